"""The plans of the statements that matter: on a fresh table, a full one, and one that was drained, they start from the right index."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from glisk.engine.link import STEADY
from glisk.engine.statements import statement
from glisk.workflows import JOBS, TOKENS
from tests.engines import ONE_STEP, enqueue

CLAIM = (ONE_STEP.name, "pending", 100, "only", "w", timedelta(seconds=30), -1, 0.0)
DRAINED = """UPDATE jobs SET status = 'completed', finished_at = now(), epoch = epoch + 2"""


async def prepare(connection: Any, state: str) -> None:
    if state != "fresh":
        await enqueue(connection, 20_000)
    if state == "drained":
        await connection.execute(DRAINED)
    if state != "fresh":
        await connection.execute("VACUUM ANALYZE jobs")
    await enqueue(connection, 200)  # after the statistics were made, as in life


@pytest.fixture(params=["plain", "steady"])
async def planner(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Any]:
    """A connection as a repository has it, and one as a worker has it."""
    settings = STEADY if request.param == "steady" else {}
    connection = await asyncpg.connect(database_url, server_settings=settings)
    yield connection
    await connection.close()


async def plan(connection: Any, sql: str, *arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await connection.fetchval("EXPLAIN (ANALYZE, FORMAT JSON) " + sql, *arguments))[
        0
    ]["Plan"]
    return found


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from walk(child)


def scans(top: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for node in walk(top):
        if "Scan" in node["Node Type"] and node.get("Relation Name") == "jobs":
            yield node["Node Type"], node.get("Index Name", "")


@pytest.mark.parametrize("state", ["fresh", "full", "drained"])
async def test_a_claim_walks_the_index_of_what_waits(state: str, connection: Any, planner: Any) -> None:
    await prepare(connection, state)
    found = set(scans(await plan(planner, statement("claim", JOBS), *CLAIM)))
    assert ("Index Scan", "jobs_waiting") in found
    assert ("Seq Scan", "") not in found or state == "fresh"  # a table of a few pages is read whole, and rightly


@pytest.mark.parametrize("state", ["fresh", "full", "drained"])
async def test_a_claim_in_a_lane_counts_along_the_index_of_what_is_at_work(
    state: str, connection: Any, planner: Any
) -> None:
    await prepare(connection, state)
    await connection.execute("INSERT INTO lanes (lane, max_concurrency, burst, tokens) VALUES ('provider', 9, 9, 9)")
    await connection.execute(
        "INSERT INTO lane_steps SELECT 'flow' || n, 'only', 'provider' FROM generate_series(1, 9) n"
    )
    text = statement("claim_in_lane", JOBS, counted=(JOBS, TOKENS))
    nodes = [*walk(await plan(planner, text, *CLAIM[:6], "provider"))]
    counted = next(node for node in nodes if node.get("Subplan Name", "").startswith("CTE granted"))
    assert set(scans(counted)) <= {("Index Scan", "jobs_leased"), ("Index Only Scan", "jobs_leased")}
    assert ("Seq Scan", "") not in set(scans(nodes[0])) or state == "fresh"


@pytest.mark.parametrize("state", ["fresh", "full", "drained"])
async def test_a_settle_goes_by_the_key(state: str, connection: Any, planner: Any) -> None:
    await prepare(connection, state)
    rows = await connection.fetch(statement("claim", JOBS), *CLAIM)
    n = len(rows)
    ids, epochs = [row["id"] for row in rows], [row["epoch"] for row in rows]
    terms = (ids, epochs, [None] * n, "only", "completed", 0, True, "w", False, [None] * n)
    found = set(scans(await plan(planner, statement("settle", JOBS, ("error_message",)), *terms)))
    assert n == 100
    assert found == {("Index Scan", "jobs_pkey")} or state == "fresh"


@pytest.mark.parametrize("state", ["fresh", "full", "drained"])
async def test_the_reaper_looks_at_nothing_but_what_is_at_work(state: str, connection: Any, planner: Any) -> None:
    await prepare(connection, state)
    await connection.fetch(statement("claim", JOBS), *CLAIM)
    found = set(
        scans(await plan(planner, statement("reap", JOBS), [ONE_STEP.name], ["only"], ["pending"], [None], 3, "w"))
    )
    assert found <= {("Index Scan", "jobs_leased"), ("Index Scan", "jobs_pkey")} or state == "fresh"


@pytest.mark.parametrize("state", ["fresh", "full", "drained"])
async def test_where_rows_lie_is_found_without_a_look_at_each(state: str, connection: Any, planner: Any) -> None:
    await prepare(connection, state)
    nodes = [*walk(await plan(planner, statement("statuses", JOBS)))]
    rows = sum(node["Actual Rows"] * node["Actual Loops"] for node in nodes if node.get("Relation Name") == "jobs")
    assert rows <= 3, "one of each status"


@pytest.mark.parametrize("state", ["fresh", "full", "drained"])
async def test_what_is_brought_in_is_found_by_its_status(state: str, connection: Any, planner: Any) -> None:
    await prepare(connection, state)
    text = statement("bring_in", JOBS)
    found = set(scans(await plan(planner, text, ONE_STEP.name, "only", "pending", False, None, "w")))
    assert found <= {("Index Scan", f"jobs_{name}") for name in ("waiting", "leased", "pkey")} or state == "fresh"
