"""What people see of the way of a token, of its lanes, and of who is at work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from glisk.engine import control, lanes, store
from glisk.engine.decide import Done, Row, decide
from glisk.engine.link import Link
from glisk.repositories.key_repository import KeyRepository
from glisk.repositories.pipeline_board import NEWEST, OLDEST, TIMES, Pair, PipelineBoard, Stage
from glisk.repositories.system_board import AUDIT, FIRST_PAGE, SystemBoard, cursor_in
from glisk.repositories.token_board import TokenBoard
from glisk.workflows import TOKEN, TOKENS
from tests.builders import CHAIN, CONTRACT, DRAWN, HEAD, MANY_TOKENS, PINNED, a_token_row
from tests.integration.test_plans import plan, walk

NOW = datetime.now(UTC)
AN_EVENT = """
    INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, at, claimed_at)
    VALUES ($1, 'token', $2, $3, 1, 'host-12-13', $4, $5)"""


@pytest.fixture
def board(link: Link) -> PipelineBoard:
    return PipelineBoard(link)


@pytest.fixture
def system(link: Link) -> SystemBoard:
    return SystemBoard(link)


async def happened(connection: Any, id: int, *steps: tuple[str | None, str, float, float | None]) -> None:
    """From where, to where, when (in seconds from now), and when the work began."""
    for was, status, at, claimed in steps:
        began = None if claimed is None else NOW + timedelta(seconds=claimed)
        await connection.execute(AN_EVENT, id, was, status, NOW + timedelta(seconds=at), began)


async def test_an_empty_pipeline_is_all_zeros(board: PipelineBoard) -> None:
    found = await board.pipeline()
    assert found.is_empty
    assert [stage.tokens for stage in found.stages] == [0, 0, 0, 0]
    assert [(step.step, step.oldest, step.wait, step.work) for step in found.steps] == [
        (step, None, Pair(), Pair()) for step in ("generating", "pinning", "revealing")
    ]
    assert (found.revealed, found.took, await board.lanes()) == (0, Pair(), [])


async def test_a_stage_counts_all_that_have_come_so_far_even_those_that_failed_later(
    board: PipelineBoard, connection: Any
) -> None:
    await a_token_row(connection, 1)
    await a_token_row(connection, 2, status="generating", leased_by="w", leased_until=NOW, started_at=NOW)
    await a_token_row(connection, 3, status="uploading", **DRAWN)
    await a_token_row(connection, 4, status="ready", **PINNED)
    await a_token_row(connection, 5, status="failed", generation_error="no", finished_at=NOW)
    await a_token_row(connection, 6, status="failed", generation_error="no", finished_at=NOW, **DRAWN)
    await a_token_row(connection, 7, status="review", generation_error="look", finished_at=NOW, **PINNED)
    await a_token_row(connection, 8, status="orphaned", finished_at=NOW)
    found = await board.pipeline()
    assert found.stages == [Stage("minted", 7), Stage("drawn", 4), Stage("pinned", 2), Stage("revealed", 0)]
    assert [(step.ahead, step.at_work) for step in found.steps] == [(1, 1), (1, 0), (1, 0)]
    assert [step.oldest and step.oldest.token_id for step in found.steps] == ["1", "3", "4"]


async def test_a_step_tells_how_long_tokens_wait_for_it_and_how_long_it_works(
    board: PipelineBoard, connection: Any
) -> None:
    for n in range(1, 4):
        id = await a_token_row(connection, n, detected_at=NOW)
        await happened(
            *(connection, id, (None, "detected", 0, None), ("generating", "uploading", 10 + n, 10)),
            *(("pinning", "ready", 30, 29), ("revealing", "revealed", 40, 31)),
        )
    found = await board.pipeline()
    times = {step.step: step for step in found.steps}
    assert times["generating"].wait == Pair(10, 10)
    assert times["generating"].work.p50 == pytest.approx(2)
    assert times["generating"].times == 3
    assert times["pinning"].work == Pair(1, 1)
    assert times["revealing"].wait == Pair(1, 1)
    assert (found.revealed, found.took) == (3, Pair(40, 40))


async def test_a_real_settle_tells_when_its_work_began(connection: Any, link: Link) -> None:
    id = await a_token_row(connection, 1)
    (row,) = await store.claim(link.fetch, TOKEN, "detected", limit=1, worker="w", lease=timedelta(minutes=1))
    claimed = Row(id, row["epoch"], "generating", "detected")
    await store.settle(link.fetch, TOKENS, [(claimed, decide(TOKEN, claimed, Done({**DRAWN})))], "w")
    began = await connection.fetchval("SELECT started_at FROM tokens_s0")
    assert await connection.fetchval("SELECT claimed_at FROM events WHERE item_id = $1", id) == began


async def test_a_lane_tells_how_many_of_its_slots_are_in_use(board: PipelineBoard, connection: Any, link: Link) -> None:
    await lanes.make(link, "replicate", 4, 2.5)
    await lanes.make(link, "chain", 1)
    await lanes.place(link, {("token", "generating"): "replicate", ("token", "revealing"): "chain"})
    for n in range(3):
        await a_token_row(
            connection, n, status="generating", leased_by="w", leased_until=NOW + timedelta(minutes=1), started_at=NOW
        )
    await lanes.hold(link, "replicate", "no credit", actor="anna")
    chain, replicate = await board.lanes()
    assert (chain["state"], chain["in_use"], chain["max_concurrency"], chain["rate"]) == ("open", 0, 1, None)
    assert (replicate["state"], replicate["in_use"], replicate["rate"]) == ("held", 3, 2.5)
    assert (replicate["held_reason"], replicate["steps"]) == ("no credit", ["generating"])


async def test_workers_are_seen_by_their_leases(system: SystemBoard, connection: Any) -> None:
    assert await system.workers() == []
    soon = NOW + timedelta(minutes=1)
    for n, worker in enumerate(("b", "a", "b")):
        leased = {"leased_by": worker, "leased_until": soon, "started_at": NOW - timedelta(seconds=n)}
        await a_token_row(connection, n, status="generating", **leased)
    first, second = await system.workers()
    assert (first["worker"], first["claims"], first["next_expiry"]) == ("a", 1, soon)
    assert (second["worker"], second["claims"], second["oldest"]) == ("b", 2, NOW - timedelta(seconds=2))


async def test_the_audit_log_has_what_people_did_and_nothing_else_page_by_page(
    system: SystemBoard, connection: Any, link: Link
) -> None:
    assert await system.audit() == []
    id = await a_token_row(connection, 1, status="failed", generation_error="no", finished_at=NOW)
    await happened(connection, id, (None, "detected", 0, None), ("generating", "failed", 2, 1))
    await connection.execute("INSERT INTO events (to_status, actor, data) VALUES ('reorg', 'listener', '{}')")
    board = TokenBoard(link)
    await board.retry(await board.named(["1"]), "anna", "again")
    await lanes.make(link, "replicate", 4)
    await lanes.hold(link, "replicate", "no credit", actor="ben")
    await KeyRepository(link).make("laptop-2", "operator", "anna")
    await control.pause_workflow(link, "image_edit", "ben")
    found = await system.audit()
    assert [(deed.actor, deed.what, deed.item_id) for deed in found] == [
        ("ben", "paused", None),
        ("anna", "key made", None),
        ("ben", "lane held", None),
        ("anna", "failed → detected", id),
    ]
    assert (found[2].told, found[3].told) == ("replicate · no credit", "again")
    assert (found[2].token, found[3].token) == (None, (CHAIN, CONTRACT, "1"))
    pages = [await system.audit(limit=3)]
    pages.append(await system.audit(pages[0][-1].key, 3))
    assert pages[0] + pages[1] == found
    assert await system.audit("nonsense") == found
    assert cursor_in("9" * 20 + "-1") == FIRST_PAGE


async def test_versions_sizes_and_alerts(system: SystemBoard, connection: Any) -> None:
    assert (await system.versions())["schema"] == HEAD
    sizes = await system.sizes()
    assert {"tokens_s0", "events", "attempts"} <= {row["table"] for row in sizes}
    assert await system.alerts() == []
    await connection.execute("""
        INSERT INTO alerts (cause, kind, message, fix, cleared_at) VALUES ('lane chain', 'lane', 'It is held.', 'Resume it.', NULL),
          ('old', 'lane', 'It was held.', 'Resume it.', now())""")
    assert [row["cause"] for row in await system.alerts()] == ["lane chain"]


async def test_a_large_database_is_read_along_its_indexes(connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 20_000, ["detected", "uploading", "failed"], 0)
    await connection.execute("""
        INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, claimed_at)
        SELECT n % 20000, 'token', 'generating', 'uploading', 1, 'w', now() FROM generate_series(1, 50000) n""")
    await connection.execute("VACUUM ANALYZE tokens_s0, events")
    for sql, terms, indexes in (
        (OLDEST, (["detected", "uploading"],), {"tokens_status"}),
        (TIMES, (NEWEST, "token"), {"events_pkey"}),
        (AUDIT, (str(FIRST_PAGE[0]), FIRST_PAGE[1], 50, False), {"events_by_hand", "tokens_s0_id_key"}),
    ):
        scans = [node for node in walk(await plan(connection, sql, *terms)) if "Relation Name" in node]
        assert {node.get("Index Name") for node in scans} == indexes, sql
