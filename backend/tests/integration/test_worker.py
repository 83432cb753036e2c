"""The worker on a real PostgreSQL: every job once, in order, whatever is done to it meanwhile."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

from glisk.engine import control
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Fail, Retry, Verdict, Wait
from glisk.engine.link import Link
from glisk.engine.worker import Pace
from glisk.workflows import JOBS
from tests.engines import DEMO, ONE_STEP, PACE, Recorder, at_work, enqueue, finished


async def hang(claim: Claim) -> Verdict:
    await asyncio.Event().wait()
    raise AssertionError


async def test_eight_workers_run_five_thousand_jobs_once_each(database_url: str, connection: Any) -> None:
    ids = await enqueue(connection, 5000)
    recorder = Recorder()
    async with AsyncExitStack() as stack:
        for n in range(8):
            await stack.enter_async_context(at_work(database_url, {"only": recorder}, name=f"w{n}"))
        assert set((await finished(connection, 5000)).values()) == {"completed"}
    assert recorder.runs == dict.fromkeys(ids, 1)
    assert await connection.fetchval("SELECT count(*) FROM events WHERE to_status = 'completed'") == 5000


async def test_a_job_goes_through_all_its_steps(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1, DEMO)
    first, second = Recorder(), Recorder()
    async with at_work(database_url, {"first": first, "second": second}, DEMO):
        assert await finished(connection) == {id: "completed"}
    timeline = await connection.fetch(
        "SELECT from_status, to_status FROM events WHERE item_id = $1 ORDER BY event_id", id
    )
    assert [tuple(row) for row in timeline] == [("first", "halfway"), ("second", "completed")]


async def test_a_failing_job_is_tried_three_times(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)

    async def fail(claim: Claim) -> Verdict:
        return Retry("no route", category="network")

    recorder = Recorder(fail)
    async with at_work(database_url, {"only": recorder}):
        assert await finished(connection) == {id: "failed"}
    assert recorder.runs == {id: 3}
    error = await connection.fetchval("SELECT error_message FROM jobs")
    assert error == "Max retries exceeded after network errors: no route"


async def test_a_bug_in_a_processor_is_a_failure_like_any_other(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)

    async def stumble(claim: Claim) -> Verdict:
        raise KeyError("prompt")

    async with at_work(database_url, {"only": Recorder(stumble)}):
        await finished(connection)
    assert "unexpected KeyError: 'prompt'" in await connection.fetchval("SELECT error_message FROM jobs")


async def test_waiting_uses_no_attempt(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)
    answers: list[Verdict] = [Wait(), Wait(), Wait(), Wait(), Done()]

    async def wait_first(claim: Claim) -> Verdict:
        return answers.pop(0)

    async with at_work(database_url, {"only": Recorder(wait_first)}):
        assert await finished(connection) == {id: "completed"}


async def test_higher_priorities_come_first(database_url: str, connection: Any) -> None:
    low, high = await enqueue(connection, 3), await enqueue(connection, 3, columns="priority=5")
    order: list[int] = []

    async def remember(claim: Claim) -> Verdict:
        order.append(claim.id)
        return Done()

    async with at_work(database_url, {"only": Recorder(remember)}):
        await finished(connection, 6)
    assert order == high + low


async def test_a_stopping_worker_lets_its_work_finish(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    release = asyncio.Event()

    async def wait_for_it(claim: Claim) -> Verdict:
        await release.wait()
        return Done()

    recorder = Recorder(wait_for_it)
    async with at_work(database_url, {"only": recorder}) as worker:
        await recorder.started.wait()
        worker.stop()
        release.set()
    assert await connection.fetchval("SELECT status FROM jobs") == "completed"


async def test_what_does_not_finish_in_time_waits_again_and_uses_no_attempt(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    recorder = Recorder(hang)
    pace = Pace(lease=PACE.lease, poll=PACE.poll, drain=timedelta(milliseconds=10))
    async with at_work(database_url, {"only": recorder}, pace=pace):
        await recorder.started.wait()
    row = await connection.fetchrow("SELECT status, retry_count, leased_by FROM jobs")
    assert tuple(row) == ("pending", 0, None)


async def test_a_cancelled_job_is_stopped_while_it_runs(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)
    stopped = asyncio.Event()

    async def hang_until_cancelled(claim: Claim) -> Verdict:
        try:
            return await hang(claim)
        finally:
            stopped.set()

    recorder, link = Recorder(hang_until_cancelled), Link(database_url)
    async with at_work(database_url, {"only": recorder}):
        await recorder.started.wait()
        assert await control.cancel(link, JOBS, [id], "anna") == [id]
        await stopped.wait()
    await link.close()
    row = await connection.fetchrow("SELECT status, error_message FROM jobs")
    assert tuple(row) == ("failed", "Cancelled by anna")


async def test_a_finished_job_cannot_be_cancelled_and_an_open_one_not_retried(
    database_url: str, connection: Any
) -> None:
    done, open_ = await enqueue(connection, 2)
    await connection.execute("UPDATE jobs SET status = 'completed', finished_at = now() WHERE id = $1", done)
    link = Link(database_url)
    assert await control.cancel(link, JOBS, [done], "anna") == []
    assert await control.retry(link, JOBS, [open_], "pending", "anna") == []
    assert await control.cancel(link, JOBS, [open_], "anna") == [open_]
    assert await control.retry(link, JOBS, [open_], "pending", "anna") == [open_]
    await link.close()


async def test_a_paused_job_waits_until_it_is_resumed(database_url: str, connection: Any) -> None:
    paused, other = await enqueue(connection, 2)
    link, recorder = Link(database_url), Recorder()
    assert await control.pause(link, JOBS, [paused]) == [paused]
    async with at_work(database_url, {"only": recorder}):
        assert await finished(connection, 1) == {other: "completed"}
        assert recorder.runs[paused] == 0
        assert await control.resume(link, JOBS, [paused]) == [paused]
        await finished(connection, 2)
    await link.close()


async def test_a_busy_event_loop_does_not_lose_its_leases(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)

    async def block(claim: Claim) -> Verdict:
        until = time.monotonic() + 2.5 * PACE.lease.total_seconds()
        while time.monotonic() < until:  # what a processor must not do, and one day does
            pass
        return Done()

    recorder = Recorder(block)
    async with at_work(database_url, {"only": recorder}):
        await finished(connection)
    assert recorder.runs == {id: 1}
    assert await connection.fetchval("SELECT reclaims FROM jobs") == 0


async def test_an_expired_lease_is_given_back(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)
    await connection.execute(
        "UPDATE jobs SET status = 'only', epoch = 1, leased_by = 'dead', leased_until = now() - interval '1 s'"
    )
    recorder = Recorder()
    async with at_work(database_url, {"only": recorder}):
        assert await finished(connection) == {id: "completed"}
    assert recorder.runs == {id: 1}


async def test_a_live_lease_is_left_alone(database_url: str, connection: Any) -> None:
    held, free = await enqueue(connection, 2)
    await connection.execute(
        "UPDATE jobs SET status = 'only', leased_by = 'alive', leased_until = now() + interval '1 h' WHERE id = $1",
        held,
    )
    recorder = Recorder()
    async with at_work(database_url, {"only": recorder}):
        await finished(connection)
    assert recorder.runs == {free: 1}


async def test_a_row_that_is_orphaned_again_and_again_is_given_up(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    await connection.execute(
        "UPDATE jobs SET status = 'only', leased_by = 'dead', leased_until = now() - interval '1 s', reclaims = 3"
    )
    async with at_work(database_url, {"only": Recorder()}):
        await finished(connection)
    row = await connection.fetchrow("SELECT status, error_message FROM jobs")
    assert tuple(row) == ("failed", "Orphaned 4 times")


async def test_progress_is_noted_in_the_middle_of_the_work(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    noted: list[bool] = []

    async def report(claim: Claim) -> Verdict:
        noted.append(await claim.note(claim, progress=40))
        return Fail("that was all")

    async with at_work(database_url, {"only": Recorder(report)}):
        await finished(connection)
    assert noted == [True]
    assert await connection.fetchval("SELECT progress FROM jobs") == 40


def test_the_workflows_of_these_tests_are_sound() -> None:
    assert list(DEMO.problems()) == list(ONE_STEP.problems()) == []
