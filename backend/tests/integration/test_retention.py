"""Retention: what ended long ago goes, what somebody may still need stays."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from glisk.cli.main import app
from glisk.engine import retention
from glisk.engine.link import Link
from glisk.engine.periodic import keep_time
from glisk.repositories.job_repository import JobRepository
from glisk.workflows import JOBS
from tests.builders import MANY_TOKENS, an_edit
from tests.conftest import execute, fetchval
from tests.engines import enqueue

KEEP = timedelta(days=30)
ENDED = "UPDATE jobs SET status = 'completed', finished_at = now() - make_interval(days => $2) WHERE id = ANY ($1)"
OLD_JOBS = """
    INSERT INTO jobs (workflow, status, finished_at)
    SELECT 'simple', 'completed', now() - interval '31 days' FROM generate_series(1, 3)"""


async def ended(connection: Any, n: int, days: int = 31) -> list[int]:
    ids = await enqueue(connection, n)
    await connection.execute(ENDED, ids, days)
    return ids


async def left(connection: Any) -> list[int]:
    return [row["id"] for row in await connection.fetch("SELECT id FROM jobs ORDER BY id")]


async def test_only_what_ended_long_ago_goes(link: Link, connection: Any) -> None:
    await ended(connection, 3)
    kept = await ended(connection, 2, days=29) + await enqueue(connection, 2)
    await connection.execute("UPDATE jobs SET created_at = now() - interval '1 year'")
    assert await retention.prune(link, JOBS, KEEP) == 3
    assert await left(connection) == kept


async def test_it_goes_in_batches(link: Link, connection: Any) -> None:
    await ended(connection, 25)
    await connection.execute("""
        CREATE TABLE batches (n int);
        CREATE FUNCTION count_batch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO batches SELECT count(*) FROM gone;
          RETURN NULL;
        END $$;
        CREATE TRIGGER count_batch AFTER DELETE ON jobs REFERENCING OLD TABLE AS gone EXECUTE FUNCTION count_batch()""")
    assert await retention.prune(link, JOBS, KEEP, batch=10) == 25
    assert [row["n"] for row in await connection.fetch("SELECT n FROM batches")] == [10, 10, 5]


@pytest.mark.usefixtures("owners")
async def test_a_job_stays_while_one_that_waited_for_it_is_open(link: Link, connection: Any) -> None:
    jobs = JobRepository(link)
    waited_for, over = await jobs.enqueue_many([an_edit(), an_edit()])
    await jobs.enqueue(an_edit(parents=[waited_for.id]))
    await connection.execute("UPDATE job_dependencies SET released_at = now()")
    await connection.execute("UPDATE jobs SET dependency_count = 0")
    await connection.execute(ENDED, [waited_for.id, over.id], 31)
    late = await jobs.enqueue(an_edit(parents=[over.id]))  # it was over already: there is no edge
    assert await retention.prune(link, JOBS, KEEP) == 0
    await connection.execute(ENDED, [late.id], 29)
    assert await retention.prune(link, JOBS, KEEP) == 1
    assert over.id not in await left(connection)
    assert waited_for.id in await left(connection)


async def test_events_go_and_what_was_paid_stays(link: Link, connection: Any) -> None:
    (gone,), (kept,) = await ended(connection, 1), await ended(connection, 1, days=1)
    await connection.execute(
        """INSERT INTO attempts (item_id, step, epoch, provider, worker, outcome, receipt, cost, error, finished_at)
           SELECT $1, 'only', 1, 'p', 'w', outcome, receipt, cost, name, CASE WHEN outcome <> 'open' THEN now() END FROM (VALUES
             ('paid', 'done', 'r', 0.003), ('failed and paid', 'failed', NULL, 0.003), ('failed with a receipt', 'failed', 'r', NULL),
             ('unresolved', 'open', NULL, NULL), ('unknown', 'unknown', NULL, NULL), ('free', 'failed', NULL, 0), ('unsent', 'cancelled', NULL, NULL)
           ) AS v(name, outcome, receipt, cost)""",
        gone,
    )
    await connection.execute(
        "INSERT INTO events (item_id, to_status, actor) SELECT unnest($1::bigint[]), 'completed', 'w'", [gone, kept]
    )
    assert await retention.prune(link, JOBS, KEEP) == 1
    assert [row["item_id"] for row in await connection.fetch("SELECT item_id FROM events")] == [kept]
    stay = {row["error"] for row in await connection.fetch("SELECT error FROM attempts")}
    assert stay == {"paid", "failed and paid", "failed with a receipt", "unresolved", "unknown"}


async def test_two_at_once_are_harmless(database_url: str, connection: Any) -> None:
    await ended(connection, 500)
    kept = await enqueue(connection, 1)
    links = [Link(database_url) for _ in range(4)]
    pruned = await asyncio.gather(*(retention.prune(link, JOBS, KEEP, batch=7) for link in links))
    # One that met only rows in another's hands has stopped early: what is left is the next hour's.
    last = await retention.prune(links[0], JOBS, KEEP)
    assert sum(pruned) + last == 500
    assert await left(connection) == kept
    await asyncio.gather(*(link.close() for link in links))


async def test_tokens_are_never_pruned(link: Link, connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 3, ["failed"], 0)
    await connection.execute("UPDATE tokens_s0 SET finished_at = now() - interval '10 years'")
    await ended(connection, 1)
    assert await retention.prune(link, JOBS, KEEP) == 1
    assert await connection.fetchval("SELECT count(*) FROM tokens_s0") == 3


async def test_it_is_periodic_work_unless_all_is_kept(database_url: str, link: Link, connection: Any) -> None:
    assert retention.works(link, JOBS, timedelta()) == []
    await ended(connection, 5)
    clock = Link(database_url)
    keeping = asyncio.create_task(keep_time(clock, retention.works(link, JOBS, KEEP), look_every=0.01))
    while await left(connection):
        pass
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await clock.close()


def test_the_command_says_how_many_went(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
    monkeypatch.chdir(tmp_path)
    asyncio.run(execute(database_url, OLD_JOBS))
    glisk = CliRunner()
    assert glisk.invoke(app, ["jobs", "prune"]).exit_code == 2, "nobody is there to say yes"
    assert glisk.invoke(app, ["jobs", "prune", "--older-than", "32", "--yes"]).output == "0 deleted.\n"
    assert glisk.invoke(app, ["jobs", "prune", "--yes"]).output == "3 deleted.\n"
    assert asyncio.run(fetchval(database_url, "SELECT count(*) FROM jobs")) == 0
    monkeypatch.setenv("GLISK_KEEP_JOBS_DAYS", "0")
    refused = glisk.invoke(app, ["jobs", "prune", "--yes"])
    assert refused.exit_code == 2
    assert "--older-than" in refused.output
