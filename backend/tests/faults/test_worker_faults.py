"""Workers that are killed, stopped or cut off: their work is done by others, once, and what they say too late is refused."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import psutil
import pytest

from glisk.db import migrate
from glisk.dev import postgres
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Verdict
from glisk.engine.link import LinkLost
from glisk.engine.worker import Pace
from tests.conftest import WATCHED
from tests.engines import ONE_STEP, PACE, Recorder, at_work, enqueue, finished
from tests.forked import FORKS

ROUNDS = 50 if os.environ.get("PROVE") else 3
JOBS = 40

T = TypeVar("T")

pytestmark = pytest.mark.faults


async def hold(claim: Claim) -> Verdict:
    """At work until somebody kills the process."""
    await asyncio.Event().wait()
    return Done()


async def die(claim: Claim) -> Verdict:
    os._exit(9)


async def die_or_stand_beside(claim: Claim) -> Verdict:
    """The poison dies; the others are still at work whenever it does, until they are tried alone."""
    if "poison" in claim.row["payload"]:
        os._exit(9)
    return Done() if claim.epoch >= 5 else await hold(claim)


async def serve(url: str, behave: Callable[[Claim], Any]) -> None:
    async with at_work(url, {"only": Recorder(behave)}, name=f"fork-{os.getpid()}"):
        await asyncio.Event().wait()


def serve_in_fork(url: str, behave: Callable[[Claim], Any]) -> None:
    asyncio.run(serve(url, behave))


def forked_worker(url: str, behave: Callable[[Claim], Any]) -> BaseProcess:
    process = FORKS.Process(target=serve_in_fork, args=(url, behave), daemon=True)
    process.start()
    return process


async def until_leased(connection: Any, n: int) -> None:
    while await connection.fetchval("SELECT count(*) FROM jobs WHERE leased_by LIKE 'fork-%'") < n:
        pass


@pytest.mark.timeout(1200)
async def test_the_jobs_of_a_killed_worker_are_done_by_others(database_url: str, connection: Any) -> None:
    for _ in range(ROUNDS):
        await connection.execute("TRUNCATE jobs CASCADE")
        ids = await enqueue(connection, JOBS)
        doomed = forked_worker(database_url, hold)
        await until_leased(connection, JOBS)
        doomed.kill()
        doomed.join()
        recorder = Recorder()
        async with at_work(database_url, {"only": recorder}):
            assert set((await finished(connection, JOBS)).values()) == {"completed"}
        assert recorder.runs == dict.fromkeys(ids, 1)


@pytest.mark.timeout(300)
async def test_a_job_that_kills_its_workers_ends_in_the_dead_letters(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)
    for _ in range(10):
        poisoned = forked_worker(database_url, die)
        while poisoned.is_alive() and not await connection.fetchval("SELECT finished_at FROM jobs"):
            pass
        poisoned.kill()
        poisoned.join()
        if await connection.fetchval("SELECT finished_at FROM jobs"):
            break
    row = await connection.fetchrow("SELECT id, status, error_message FROM jobs")
    assert tuple(row) == (id, "failed", "Orphaned 4 times")


@pytest.mark.timeout(300)
async def test_a_job_that_kills_its_workers_takes_nobody_along(database_url: str, connection: Any) -> None:
    (poison,) = await enqueue(connection, 1, columns="""payload='{"poison": true}'::jsonb""")
    beside = await enqueue(connection, 10)
    while await connection.fetchval("SELECT count(*) FROM jobs WHERE finished_at IS NOT NULL") < 11:
        worker = forked_worker(database_url, die_or_stand_beside)
        while worker.is_alive() and await connection.fetchval("SELECT count(*) FROM jobs WHERE finished_at IS NULL"):
            pass
        worker.kill()
        worker.join()
    rows = await connection.fetch("SELECT id, status FROM jobs")
    assert {row["id"]: row["status"] for row in rows} == {poison: "failed", **dict.fromkeys(beside, "completed")}


async def test_a_stopped_worker_that_wakes_after_its_lease_writes_nothing(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    sleeper = forked_worker(database_url, hold)
    assert sleeper.pid
    await until_leased(connection, 1)
    os.kill(sleeper.pid, signal.SIGSTOP)
    recorder = Recorder()
    async with at_work(database_url, {"only": recorder}):
        await finished(connection)
        os.kill(sleeper.pid, signal.SIGCONT)
    sleeper.terminate()
    sleeper.join()
    row = await connection.fetchrow("SELECT status, epoch FROM jobs")
    assert row["status"] == "completed"
    assert recorder.runs.total() == 1
    assert await connection.fetchval("SELECT count(*) FROM events WHERE to_status = 'completed'") == 1


@pytest.mark.timeout(300)
async def test_everything_finishes_while_connections_are_cut_again_and_again(
    database_url: str, connection: Any
) -> None:
    ids = await enqueue(connection, 2000)
    recorder = Recorder()
    cut = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""
    pace = Pace(concurrency=100, batch=20, lease=timedelta(seconds=2), poll=PACE.poll)
    async with at_work(database_url, {"only": recorder}, pace=pace):
        for n in range(1, 11):
            await finished(connection, 100 * n)
            await connection.fetchval(cut)
        assert set((await finished(connection, 2000)).values()) == {"completed"}
    assert set(recorder.runs) == set(ids)
    assert await connection.fetchval("SELECT count(*) FROM events WHERE to_status = 'completed'") == 2000


@pytest.mark.timeout(300)
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
async def test_everything_finishes_over_restarts_of_the_database(by: signal.Signals, tmp_path: Path) -> None:
    """Nobody restarts it but its keeper."""
    home = tmp_path / "pg"
    with postgres.running(home, {"fsync": "off"}) as url:
        await asyncio.to_thread(migrate.upgrade, url)
        await over(url, lambda connection: connection.execute(WATCHED))
        ids = await over(url, lambda connection: enqueue(connection, 3000))
        recorder = Recorder()
        async with at_work(url, {"only": recorder}):
            for n in range(1, 4):
                await over(url, lambda connection, n=n: finished(connection, 500 * n))  # type: ignore[misc]
                server = psutil.Process(int((home / "data" / "postmaster.pid").read_text().split()[0]))
                server.send_signal(by)
                await asyncio.to_thread(server.wait)
                await asyncio.to_thread(postgres.wait_for_port, home)
            ended = await over(url, lambda connection: finished(connection, 3000))
        assert set(ended.values()) == {"completed"}
        assert set(recorder.runs) == set(ids)
        completed = "SELECT count(*) FROM events WHERE to_status = 'completed'"  # a lease may have run out meanwhile
        assert await over(url, lambda connection: connection.fetchval(completed)) == 3000


async def over(url: str, action: Callable[[Any], Awaitable[T]]) -> T:
    connection = await asyncpg.connect(url)
    try:
        return await action(connection)
    finally:
        await connection.close()


async def test_a_settle_whose_answer_was_lost_is_sent_again_and_counts_once(database_url: str, connection: Any) -> None:
    await enqueue(connection, 50)
    async with at_work(database_url, {"only": Recorder()}) as worker:
        losing = worker.settler.link
        real, losses = losing.fetch, iter([True, True, True])

        async def lossy(sql: str, /, *arguments: Any) -> list[Any]:
            rows = await real(sql, *arguments)
            if next(losses, False):
                raise LinkLost("the answer was lost")
            return rows

        losing.fetch = lossy  # type: ignore[method-assign]
        await finished(connection, 50)
    assert await connection.fetchval("SELECT count(*) FROM events WHERE to_status = 'completed'") == 50


def test_the_workflow_is_the_one_that_forks_serve() -> None:
    assert ONE_STEP.steps["pending"].process == "only"
