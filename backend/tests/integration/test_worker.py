"""The worker on a real PostgreSQL: every job once, in order, whatever is done to it meanwhile."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest

from glisk.engine import control, lanes, ledger
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Fail, Retry, Verdict, Wait
from glisk.engine.link import Link
from glisk.engine.reaper import Reaper
from glisk.engine.statements import statement
from glisk.engine.worker import ARRIVAL_S, Pace, Station, Worker
from glisk.engine.workflow import Step, Workflow
from glisk.workflows import JOBS, TOKEN
from tests.builders import MANY_TOKENS
from tests.cutter import Moment, cutter_before
from tests.engines import DEMO, ONE_STEP, PACE, Recorder, at_work, enqueue, finished, true


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


async def test_an_uncounted_failure_adds_nothing_and_is_tried_for_as_long_as_it_takes(
    database_url: str, connection: Any
) -> None:
    """Seed 000's count_failure = false: neither the count nor the time of the last retry moves, however often it fails."""
    step = Step("only", "completed", count_failure=False, max_attempts=3)
    (id,) = await enqueue(connection, 1)
    counts, link = list[tuple[Any, ...]](), Link(database_url)

    async def fail_nine_times(claim: Claim) -> Verdict:
        counts.extend(tuple(row) for row in await link.fetch("SELECT retry_count, last_retry FROM jobs"))
        return Retry("no route") if len(counts) < 10 else Done()

    async with at_work(database_url, {"only": Recorder(fail_nine_times)}, Workflow("simple", JOBS, {"pending": step})):
        assert await finished(connection) == {id: "completed"}
    await link.close()
    assert counts == [(0, None)] * 10


async def test_a_bug_in_a_processor_is_a_failure_like_any_other(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)

    async def stumble(claim: Claim) -> Verdict:
        raise KeyError("prompt")

    async with at_work(database_url, {"only": Recorder(stumble)}):
        await finished(connection)
    row = await connection.fetchrow("SELECT error_message, stacktrace FROM jobs")
    assert "unexpected KeyError: 'prompt'" in row["error_message"]
    assert "in stumble" in row["stacktrace"]


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


async def test_nothing_of_a_paused_workflow_is_started_until_it_is_resumed(database_url: str, connection: Any) -> None:
    link, paused, other = Link(database_url), Recorder(), Recorder()
    assert await control.pause_workflow(link, ONE_STEP.name, "anna")
    assert not await control.pause_workflow(link, ONE_STEP.name, "bob")
    (waiting,), (free,) = await enqueue(connection, 1), await enqueue(connection, 1, DEMO)
    pace = replace(PACE, poll=timedelta(hours=1))
    async with (
        at_work(database_url, {"only": paused}, pace=pace),
        at_work(database_url, {"first": other, "second": other}, DEMO),
    ):
        assert await finished(connection) == {free: "completed"}
        assert (await control.paused_workflows(link))[0]["actor"] == "anna"
        assert await control.resume_workflow(link, ONE_STEP.name, "bob")
        assert set(await finished(connection, 2)) == {waiting, free}
    assert not await control.resume_workflow(link, ONE_STEP.name, "bob")
    events = await connection.fetch("SELECT to_status, actor FROM events WHERE item_id IS NULL ORDER BY event_id")
    assert [tuple(row) for row in events] == [("paused", "anna"), ("resumed", "bob")]
    await link.close()


@pytest.mark.parametrize("limit", [1, 5])
async def test_a_paused_workflow_gives_nothing_to_a_lane(limit: int, database_url: str, connection: Any) -> None:
    link = Link(database_url)
    await connection.execute("INSERT INTO lanes (lane, max_concurrency, burst, tokens) VALUES ('provider', 9, 9, 9)")
    await enqueue(connection, 3)
    lane = lanes.Lane("provider", (JOBS,))
    take = partial(lanes.claim, link, lane, ONE_STEP, "pending", limit=limit, worker="w", lease=timedelta(minutes=1))
    await control.pause_workflow(link, ONE_STEP.name, "anna")
    assert (await take()).rows == []
    await control.resume_workflow(link, ONE_STEP.name, "anna")
    assert len((await take()).rows) == min(3, limit)
    await link.close()


async def test_a_paused_job_waits_until_it_is_resumed(database_url: str, connection: Any) -> None:
    paused, other = await enqueue(connection, 2)
    link, recorder = Link(database_url), Recorder()
    assert await control.pause(link, JOBS, [paused], "anna") == [paused]
    async with at_work(database_url, {"only": recorder}):
        assert await finished(connection, 1) == {other: "completed"}
        assert recorder.runs[paused] == 0
        assert await control.resume(link, JOBS, [paused], "anna") == [paused]
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


async def claimed_by_hand(worker: Worker, n: int) -> list[Any]:
    """Rows that this worker has, and nobody has begun."""
    worker.loop = asyncio.get_running_loop()
    rows, _ = await worker.claimed(worker.stations[0], n)
    worker.begin(worker.stations[0], rows)
    return rows


async def a_turn_or_two() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
async def idle_worker(database_url: str) -> AsyncIterator[tuple[Worker, Recorder]]:
    """One that does nothing by itself."""
    recorder = Recorder()
    worker = Worker(database_url, [Station(ONE_STEP, "pending", recorder)], "w", PACE)
    yield worker, recorder
    await worker.link.close()


async def test_what_is_lost_before_it_begins_does_not_begin(
    connection: Any, idle_worker: tuple[Worker, Recorder]
) -> None:
    kept, gone = await enqueue(connection, 2)
    worker, recorder = idle_worker
    rows = await claimed_by_hand(worker, 2)
    worker.lose({(row["id"], row["epoch"]) for row in rows if row["id"] == gone})
    await a_turn_or_two()
    assert recorder.runs == {kept: 1}
    assert set(worker.claims) == {kept}, "the other is to be settled"


async def test_whoever_need_not_wait_is_not_held_up_by_whoever_must(
    connection: Any, idle_worker: tuple[Worker, Recorder]
) -> None:
    ids = await enqueue(connection, 5)
    worker, recorder = idle_worker

    async def wait_or_not(claim: Claim) -> Verdict:
        return await hang(claim) if claim.id == ids[2] else Done()

    recorder.behave = wait_or_not
    await claimed_by_hand(worker, 5)
    await a_turn_or_two()
    assert recorder.runs == dict.fromkeys(ids, 1)
    assert [row.id for row, _ in worker.settler.waiting[JOBS]] == [id for id in ids if id != ids[2]]
    worker.lose({claim.fence for claim in list(worker.claims.values())})
    await a_turn_or_two()
    assert ids[2] not in worker.claims, "it was stopped, and dropped"


async def test_one_that_cancels_its_task_takes_nobody_along(
    connection: Any, idle_worker: tuple[Worker, Recorder]
) -> None:
    ids = await enqueue(connection, 3)
    worker, recorder = idle_worker

    async def cancel_oneself(claim: Claim) -> Verdict:
        if claim.id == ids[0]:
            cast("asyncio.Task[None]", asyncio.current_task()).cancel()
        else:
            await asyncio.sleep(0)
        return Done()

    recorder.behave = cancel_oneself
    await claimed_by_hand(worker, 3)
    await a_turn_or_two()
    assert {row.id: to.status for row, to in worker.settler.waiting[JOBS]} == dict.fromkeys(ids, "completed")


async def test_whoever_works_alone_waits_for_what_is_on_its_way(
    connection: Any, idle_worker: tuple[Worker, Recorder]
) -> None:
    await enqueue(connection, 1)
    worker, _ = idle_worker
    worker.loop = asyncio.get_running_loop()
    claim = asyncio.create_task(worker.claim_for(worker.stations[0], 1))
    await asyncio.sleep(0)
    alone = asyncio.create_task(worker.idle_or_stopping())
    await claim
    await a_turn_or_two()
    assert not alone.done(), "the job that came is not settled"
    worker.settled(worker.settler.waiting[JOBS])
    await alone


async def test_a_suspect_of_a_paused_workflow_sends_nobody_away(
    connection: Any, idle_worker: tuple[Worker, Recorder]
) -> None:
    await enqueue(connection, 1, columns="reclaims=2")
    worker, _ = idle_worker
    assert await worker.lookout.any_suspect()
    await connection.execute("INSERT INTO paused_workflows (workflow, actor) VALUES ($1, 'anna')", ONE_STEP.name)
    assert not await worker.lookout.any_suspect()


@pytest.mark.parametrize(
    "lane",
    ["held_at = now(), held_reason = 'no'", "open_at = now() + interval '1 hour'"],
    ids=["held", "closed"],
)
async def test_a_suspect_in_a_lane_that_lets_nothing_through_sends_nobody_away(
    lane: str, connection: Any, idle_worker: tuple[Worker, Recorder]
) -> None:
    await enqueue(connection, 1, columns="reclaims=2")
    await connection.execute("INSERT INTO lanes (lane, max_concurrency) VALUES ('provider', 1)")
    await connection.execute("INSERT INTO lane_steps VALUES ($1, 'only', 'provider')", ONE_STEP.name)
    worker, _ = idle_worker
    assert await worker.lookout.any_suspect()
    await connection.execute(f"UPDATE lanes SET {lane}")
    assert not await worker.lookout.any_suspect()


class Evil:
    """As a value of pandas or numpy may be: it cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]  # as the language has it for what compares in its own way


@pytest.mark.parametrize(
    "verdict",
    [Done({"result_url": Evil()}), Done(closes=cast("Any", True))],
    ids=["a fact", "a closing"],
)
async def test_what_nobody_can_write_fails_alone(verdict: Verdict, database_url: str, connection: Any) -> None:
    bad, *good = await enqueue(connection, 5)

    async def answer(claim: Claim) -> Verdict:
        return verdict if claim.id == bad else Done()

    async with at_work(database_url, {"only": Recorder(answer)}):
        assert await finished(connection, 5) == {bad: "failed", **dict.fromkeys(good, "completed")}
    error = await connection.fetchval("SELECT error_message FROM jobs WHERE id = $1", bad)
    assert error.startswith("The result could not be written: ")


async def test_a_processor_that_raises_what_ends_generators_fails_like_any_other(
    database_url: str, connection: Any
) -> None:
    (id,) = await enqueue(connection, 1)

    async def end(claim: Claim) -> Verdict:
        raise GeneratorExit

    async with at_work(database_url, {"only": Recorder(end)}):
        assert await finished(connection) == {id: "failed"}


async def test_an_expired_lease_on_a_row_that_waits_is_taken_off(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)
    await connection.execute("UPDATE jobs SET leased_by = 'gone', leased_until = now() - interval '1 s'")
    async with at_work(database_url, {"only": Recorder()}):
        assert await finished(connection) == {id: "completed"}


async def test_an_expired_lease_is_given_back(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)
    await connection.execute(
        "UPDATE jobs SET status = 'only', epoch = 1, leased_by = 'dead', leased_until = now() - interval '1 s'"
    )
    recorder = Recorder()
    async with at_work(database_url, {"only": recorder}):
        assert await finished(connection) == {id: "completed"}
    assert recorder.runs == {id: 1}


async def test_an_orphan_that_had_failed_before_does_not_rest_again(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)
    await connection.execute(
        """UPDATE jobs SET status = 'only', retry_count = 2, last_retry = now(), leased_by = 'dead',
             leased_until = now() - interval '1 s'"""
    )
    async with at_work(database_url, {"only": Recorder()}):
        assert await finished(connection) == {id: "completed"}


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


async def test_a_row_that_was_orphaned_for_ages_is_given_up(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    await connection.execute(
        "UPDATE jobs SET status = 'only', leased_by = 'dead', leased_until = now() - interval '1 s', reclaims = 32767"
    )
    async with at_work(database_url, {"only": Recorder()}):
        await finished(connection)
    assert await connection.fetchval("SELECT error_message FROM jobs") == "Orphaned 32768 times"


async def test_a_child_that_somebody_let_go_by_hand_does_not_hold_up_its_parent(
    database_url: str, connection: Any
) -> None:
    parent, child = await enqueue(connection, 2)
    await connection.execute("UPDATE jobs SET has_children = true WHERE id = $1", parent)
    await connection.execute("INSERT INTO job_dependencies (parent_id, child_id) VALUES ($1, $2)", parent, child)
    async with at_work(database_url, {"only": Recorder()}):
        assert await finished(connection, 2) == dict.fromkeys((parent, child), "completed")


async def test_a_provider_that_asks_for_an_age_uses_no_attempt(database_url: str, connection: Any) -> None:
    await connection.execute("INSERT INTO lanes (lane, max_concurrency, max_rate, rate) VALUES ('provider', 1, 10, 10)")
    await enqueue(connection, 1)

    async def never(claim: Claim) -> Verdict:
        return Wait(timedelta.max, closes_lane=True)

    recorder = Recorder(never)
    recorder.lane = "provider"
    async with at_work(database_url, {"only": recorder}, lane=lanes.Lane("provider", (JOBS,))):
        await true(connection, "SELECT ready_at > now() + interval '1 month' FROM jobs")
    assert tuple(await connection.fetchrow("SELECT retry_count, status FROM jobs")) == (0, "pending")


async def test_facts_are_noted_in_the_middle_of_the_work(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    noted: list[bool] = []

    async def report(claim: Claim) -> Verdict:
        noted.append(await claim.note(progress=40))
        return Fail("that was all")

    async with at_work(database_url, {"only": Recorder(report)}):
        await finished(connection)
    assert noted == [True]
    assert await connection.fetchval("SELECT progress FROM jobs") == 40


async def exit_at_once(claim: Claim) -> Any:
    raise SystemExit(3)


async def cancel_itself(claim: Claim) -> Any:
    inner = asyncio.create_task(asyncio.Event().wait())
    inner.cancel()
    await inner


class Unprintable(BaseException):
    def __str__(self) -> str:
        raise ValueError


async def panic(claim: Claim) -> Any:
    raise Unprintable


async def return_nothing(claim: Claim) -> Any:
    pass


async def return_a_word(claim: Claim) -> Any:
    return "done"


async def return_what_cannot_be_shown(claim: Claim) -> Any:
    class Shy:
        def __repr__(self) -> str:
            raise SystemExit

    return Shy()


async def return_facts_that_are_none(claim: Claim) -> Any:
    return Done(["result"])  # type: ignore[arg-type]  # that is the mistake


async def wait_for_nobody_knows_how_long(claim: Claim) -> Any:
    return Wait(cast("Any", Evil()))


async def fail_without_words(claim: Claim) -> Any:
    return Retry(None)  # type: ignore[arg-type]  # that is the mistake


@pytest.mark.parametrize(
    ("behave", "complaint"),
    [
        (exit_at_once, "unexpected SystemExit: 3"),
        (cancel_itself, "unexpected CancelledError"),
        (return_nothing, "a processor returns Done, Retry, Wait, Hold or Fail, not None"),
        (return_a_word, "not 'done'"),
        (return_what_cannot_be_shown, "unexpected SystemExit"),
        (return_facts_that_are_none, "unexpected TypeError"),
        (wait_for_nobody_knows_how_long, "unexpected TypeError"),
        (fail_without_words, "None"),
        (panic, "unexpected Unprintable, which cannot be printed"),
    ],
)
async def test_nonsense_from_a_processor_is_a_failure_like_any_other(
    behave: Any, complaint: str, database_url: str, connection: Any
) -> None:
    (id,) = await enqueue(connection, 1)
    recorder = Recorder(behave)
    async with at_work(database_url, {"only": recorder}):
        assert await finished(connection) == {id: "failed"}
    assert recorder.runs == {id: 3}
    assert complaint in await connection.fetchval("SELECT error_message FROM jobs")


async def return_what_has_no_end(claim: Claim) -> Any:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"x": deep}
    return Done({"result": deep})


async def test_a_result_without_an_end_fails_its_job_and_not_the_worker(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1)
    async with at_work(database_url, {"only": Recorder(return_what_has_no_end)}):
        assert await finished(connection) == {id: "failed"}


async def test_an_old_run_that_ends_late_leaves_the_new_claim_of_its_row_alone(
    database_url: str, connection: Any
) -> None:
    (id,) = await enqueue(connection, 1)
    link, runs = Link(database_url), [asyncio.Event(), asyncio.Event()]
    ends = [asyncio.Event(), asyncio.Event()]

    async def swallow(claim: Claim) -> Verdict:
        n = 0 if claim.epoch == 1 else 1
        runs[n].set()
        while not ends[n].is_set():
            with suppress(asyncio.CancelledError):  # it does not want to hear
                await ends[n].wait()
        return Done()

    recorder = Recorder(swallow)
    async with at_work(database_url, {"only": recorder}) as worker:
        await runs[0].wait()
        await control.cancel(link, JOBS, [id], "anna")
        await control.retry(link, JOBS, [id], "pending", "anna")
        await runs[1].wait()
        first = worker.claims[id]
        ends[0].set()
        assert first.epoch == 4
        await true(connection, "SELECT leased_until > now() + interval '0.9 s' FROM jobs")  # it beats on
        assert worker.claims[id] is first
        ends[1].set()
        await finished(connection)
    assert recorder.runs == {id: 2}
    await link.close()


async def test_what_is_lost_is_told_so_once(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    told, beats = 0, asyncio.Event()

    async def clean_up(claim: Claim) -> Verdict:
        nonlocal told
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told += 1
            await beats.wait()
        return Done()

    recorder = Recorder(clean_up)
    async with at_work(database_url, {"only": recorder}) as worker:
        await recorder.started.wait()
        (claim,) = worker.claims.values()
        for _ in range(3):
            worker.lose({claim.fence})
            await asyncio.sleep(0)
        beats.set()
    assert told == 1


async def test_a_429_closes_the_lane_for_all(database_url: str, connection: Any) -> None:
    await connection.execute(
        "INSERT INTO lanes (lane, max_concurrency, max_rate, rate, burst, tokens) VALUES ('provider', 1, 10, 10, 9, 9)"
    )
    await enqueue(connection, 5)

    async def too_many(claim: Claim) -> Verdict:
        return Wait(timedelta(hours=1), "429 Too Many Requests", closes_lane=True)

    recorder = Recorder(too_many)
    recorder.lane = "provider"
    lane = lanes.Lane("provider", (JOBS,))
    async with at_work(database_url, {"only": recorder}, lane=lane):
        await true(connection, "SELECT count(*) = 1 FROM jobs WHERE ready_at > now() + interval '59 min'")
    assert recorder.runs.total() == 1
    assert tuple(await connection.fetchrow("SELECT rate, open_at > now() FROM lanes")) == (5, True)
    assert await connection.fetchval("SELECT sum(retry_count) FROM jobs") == 0


async def test_who_waits_for_a_row_in_a_status_that_nobody_knows_waits_no_longer(
    database_url: str, connection: Any
) -> None:
    parent, child, orphan = await enqueue(connection, 3)
    await connection.execute("UPDATE jobs SET status = 'nonsense', has_children = true WHERE id = $1", parent)
    await connection.execute("INSERT INTO job_dependencies (parent_id, child_id) VALUES ($1, $2)", parent, child)
    await connection.execute("UPDATE jobs SET dependency_count = 1 WHERE id = $1", child)
    leased = "status = 'old-active', leased_by = 'dead', leased_until = now() - interval '1 s'"
    await connection.execute(f"UPDATE jobs SET {leased} WHERE id = $1", orphan)
    async with at_work(database_url, {"only": Recorder()}):
        assert await finished(connection, 3) == dict.fromkeys((parent, child, orphan), "failed")


async def waits_for_a_lock(connection: Any) -> None:
    while not await connection.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    ):
        pass


@pytest.mark.parametrize("name", ["heartbeat", "progress"])
async def test_a_heartbeat_takes_its_rows_in_the_order_of_a_settle(
    name: str, database_url: str, connection: Any
) -> None:
    """Who holds the lower row gets the higher one: the beat, though told of them the other way round, has not taken it."""
    low, high = await enqueue(connection, 2)
    await connection.execute("UPDATE jobs SET status = 'only', leased_by = 'w', leased_until = now()")
    beat, other = Link(database_url, steady=True), Link(database_url)
    terms = ([[50, 50]] if name == "progress" else []) + [timedelta(minutes=1)]
    async with other.transaction() as fetch:
        await fetch("SELECT FROM jobs WHERE id = $1 FOR UPDATE", low)
        beating = asyncio.create_task(beat.fetch(statement(name, JOBS), [high, low], [0, 0], *terms))
        await waits_for_a_lock(connection)
        await fetch("SELECT FROM jobs WHERE id = $1 FOR UPDATE NOWAIT", high)
    assert len(await beating) == 2
    await asyncio.gather(beat.close(), other.close())


async def test_a_settle_that_lost_a_deadlock_is_sent_again(database_url: str, connection: Any) -> None:
    low, high = sorted(await enqueue(connection, 2))
    other, both = Link(database_url), asyncio.Event()

    async def wait_for_both(claim: Claim) -> Verdict:
        if len(recorder.runs) == 2:
            both.set()
        await go_on.wait()
        return Done()

    recorder, go_on = Recorder(wait_for_both), asyncio.Event()
    async with at_work(database_url, {"only": recorder}, pace=replace(PACE, lease=timedelta(hours=1))):
        await both.wait()
        async with other.transaction() as fetch:
            await fetch("SET LOCAL deadlock_timeout = '1h'")  # so that it is the settle that gives way
            await fetch("SELECT FROM jobs WHERE id = $1 FOR UPDATE", high)
            go_on.set()
            await waits_for_a_lock(connection)
            await fetch("SELECT FROM jobs WHERE id = $1 FOR UPDATE", low)
        assert set((await finished(connection, 2)).values()) == {"completed"}
    assert recorder.runs == {low: 1, high: 1}
    await other.close()


@pytest.mark.parametrize("drain", [timedelta(), timedelta(seconds=0.3)])
async def test_a_claim_that_is_on_its_way_when_the_worker_stops_is_given_back(
    drain: timedelta, database_url: str, connection: Any
) -> None:
    async with cutter_before(database_url) as (cutter, url):
        cutter.aim({statement("claim", JOBS)}, Moment.SLOW)
        await enqueue(connection, 5)
        async with at_work(url, {"only": Recorder(hang)}, pace=replace(PACE, drain=drain)) as worker:
            await true(connection, "SELECT count(*) = 5 FROM jobs WHERE leased_by IS NOT NULL")
            worker.stop()
            cutter.is_let_go.set()
    assert await connection.fetchval("SELECT count(*) FROM jobs WHERE status = 'pending' AND retry_count = 0") == 5


@pytest.mark.parametrize("drain", [timedelta(), timedelta(seconds=0.3)])
async def test_a_suspect_that_is_on_its_way_when_the_worker_stops_is_given_back(
    drain: timedelta, database_url: str, connection: Any
) -> None:
    async with cutter_before(database_url) as (cutter, url):
        cutter.aim({statement("claim", JOBS, suspects=True)}, Moment.SLOW)
        await enqueue(connection, 1, columns="reclaims=2")
        async with at_work(url, {"only": Recorder(hang)}, pace=replace(PACE, drain=drain)) as worker:
            await true(connection, "SELECT count(*) = 1 FROM jobs WHERE leased_by IS NOT NULL")
            worker.stop()
            cutter.is_let_go.set()
    assert await connection.fetchval("SELECT count(*) FROM jobs WHERE status = 'pending' AND retry_count = 0") == 1


async def test_a_worker_that_waits_to_try_a_suspect_stops_in_time(database_url: str, connection: Any) -> None:
    """What is at work beside it does not end by itself."""
    await enqueue(connection, 1)
    recorder = Recorder(hang)
    async with at_work(database_url, {"only": recorder}, pace=replace(PACE, drain=timedelta())) as worker:
        await recorder.started.wait()
        await enqueue(connection, 1, columns="reclaims=2")
        while worker.room():
            await connection.fetchval("SELECT 1")
        began = time.monotonic()
        worker.stop()
    assert time.monotonic() - began < ARRIVAL_S
    assert await connection.fetchval("SELECT count(*) FROM jobs WHERE status = 'pending' AND retry_count = 0") == 2


@pytest.mark.parametrize("rest", ["fixed", "exponential"])
async def test_a_job_may_have_its_own_rest_between_tries(rest: str, database_url: str, connection: Any) -> None:
    opts = json.dumps({"backoff": {"type": rest, "delay": 1}})
    (id,) = await enqueue(connection, 1, DEMO, columns=f"opts='{opts}'::jsonb")
    await connection.execute("UPDATE jobs SET status = 'halfway'")

    async def fail_twice(claim: Claim) -> Verdict:
        return Done() if claim.row["retry_count"] == 2 else Retry("not yet")

    second = Recorder(fail_twice)
    async with at_work(database_url, {"first": Recorder(), "second": second}, DEMO):
        assert await finished(connection) == {id: "completed"}, "where its step would rest for minutes"
    assert second.runs == {id: 3}


async def test_what_becomes_ready_behind_a_burst_is_found_when_it_ends(database_url: str, connection: Any) -> None:
    """The first job, as old as can be, is let go only while the others are being taken in full claims."""
    ids, link = await enqueue(connection, 200), Link(database_url)
    await connection.execute("UPDATE jobs SET not_before = '2000-01-01', paused_at = now() WHERE id = $1", ids[0])

    async def let_go(claim: Claim) -> Verdict:
        if claim.id == ids[60]:
            await control.resume(link, JOBS, [ids[0]], "anna")
        return Done()

    async with at_work(database_url, {"only": Recorder(let_go)}, pace=replace(PACE, poll=timedelta(hours=1))):
        assert set((await finished(connection, 200)).values()) == {"completed"}
    await link.close()


async def test_progress_is_written_while_the_work_goes_on_and_renews_the_lease(
    database_url: str, connection: Any
) -> None:
    await enqueue(connection, 1)
    go_on = asyncio.Event()

    async def report(claim: Claim) -> Verdict:
        for percent in (10, 20, 30, 400):
            claim.progress(percent)
        await go_on.wait()
        return Fail("that was all")

    async with at_work(database_url, {"only": Recorder(report)}, pace=replace(PACE, lease=timedelta(hours=1))):
        await true(connection, "SELECT progress = 100 AND leased_until > now() + interval '59 min' FROM jobs")
        go_on.set()
        await finished(connection)
    assert await connection.fetchval("SELECT progress FROM jobs") == 100


async def test_whoever_writes_progress_on_a_lost_claim_is_stopped(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1)
    stopped = asyncio.Event()

    async def report(claim: Claim) -> Verdict:
        await connection.execute("UPDATE jobs SET epoch = epoch + 1")
        claim.progress(50)
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return Done()

    async with at_work(database_url, {"only": Recorder(report)}, pace=replace(PACE, lease=timedelta(hours=1))):
        await stopped.wait()
        await connection.execute(
            "UPDATE jobs SET status = 'completed', finished_at = now(), leased_by = NULL, leased_until = NULL"
        )
    assert await connection.fetchval("SELECT progress FROM jobs") == 0


async def test_a_delayed_job_is_started_when_it_is_due_and_not_at_the_next_poll(
    database_url: str, connection: Any
) -> None:
    await enqueue(connection, 1, columns="not_before=now() + interval '1.5 s'")
    async with at_work(database_url, {"only": Recorder()}, pace=replace(PACE, poll=timedelta(hours=1))):
        await finished(connection)
    late = await connection.fetchval("SELECT started_at - ready_at FROM jobs")
    assert timedelta() <= late < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"progress": 400}, "progress_is_a_percentage"),
        ({"progress": "much"}, "'much'"),
        ({"result": {"x": object()}}, "result"),
        ({"result": {"x": "\0"}}, "\\u0000"),
        ({"colour": "red"}, "has no column for the fact 'colour'"),
    ],
)
async def test_a_result_that_cannot_be_written_fails_its_job_and_no_other(
    facts: dict[str, Any], complaint: str, database_url: str, connection: Any
) -> None:
    ids = await enqueue(connection, 20)

    async def overdo(claim: Claim) -> Verdict:
        return Done(facts if claim.id == ids[7] else {"progress": 100})

    async with at_work(database_url, {"only": Recorder(overdo)}):
        ended = await finished(connection, 20)
    assert [id for id, status in ended.items() if status == "failed"] == [ids[7]]
    error = await connection.fetchval("SELECT error_message FROM jobs WHERE status = 'failed'")
    assert error.startswith("The result could not be written")
    assert complaint in error


async def test_behind_a_pooler_nothing_is_left_in_the_session(database_url: str, connection: Any) -> None:
    await enqueue(connection, 20)
    async with at_work(database_url, {"only": Recorder()}, pooler=database_url) as worker:
        await finished(connection, 20)
        for link in (worker.link, worker.settler.link):
            assert await link.fetch("SELECT name FROM pg_prepared_statements WHERE name <> ''") == []
            assert (
                await link.fetch("SELECT name FROM pg_settings WHERE source = 'client' AND name LIKE 'enable%'") == []
            )


async def test_a_payload_is_merged(database_url: str, connection: Any) -> None:
    await enqueue(connection, 1, columns="""payload='{"prompt": "a sunset"}'::jsonb""")

    async def add(claim: Claim) -> Verdict:
        return Done({"payload": {"seed": 7}})

    async with at_work(database_url, {"only": Recorder(add)}):
        await finished(connection)
    assert await connection.fetchval("SELECT payload FROM jobs") == '{"seed": 7, "prompt": "a sunset"}'


async def test_a_processor_that_hangs_is_stopped_at_its_deadline(database_url: str, connection: Any) -> None:
    step = replace(ONE_STEP.steps["pending"], deadline=timedelta(milliseconds=10))
    hurried = Workflow("simple", JOBS, {"pending": step})
    (id,) = await enqueue(connection, 1)
    recorder = Recorder(hang)
    async with at_work(database_url, {"only": recorder}, hurried):
        await finished(connection)
    assert recorder.runs == {id: 3}
    error = await connection.fetchval("SELECT error_message FROM jobs")
    assert error == "Max retries exceeded after timeout errors: It took longer than 0:00:00.010000"


async def test_a_row_in_a_status_that_nobody_knows_is_parked_with_the_seeds_words(
    database_url: str, connection: Any
) -> None:
    await enqueue(connection, 1, columns="status='lost'")
    async with at_work(database_url, {"only": Recorder()}):
        await finished(connection)
    row = await connection.fetchrow("SELECT status, error_message FROM jobs")
    assert tuple(row) == ("failed", 'Unknown workflow step: story="simple", status="lost"')


async def test_a_row_that_somebody_left_at_work_without_a_lease_is_worked_on(
    database_url: str, connection: Any
) -> None:
    (id,) = await enqueue(connection, 1, columns="status='only'")
    recorder = Recorder()
    async with at_work(database_url, {"only": recorder}):
        assert await finished(connection) == {id: "completed"}
    assert recorder.runs == {id: 1}


@pytest.mark.parametrize("lease", [None, "gone"])
async def test_a_row_that_somebody_ended_by_hand_has_ended(
    lease: str | None, database_url: str, connection: Any
) -> None:
    (parent,) = await enqueue(connection, 1)
    (child,) = await enqueue(connection, 1)
    await connection.fetch(statement("depend", JOBS), child, [parent], "fail")
    until = datetime(2026, 1, 1, tzinfo=UTC) if lease else None
    await connection.execute(
        "UPDATE jobs SET status = 'completed', leased_by = $2, leased_until = $3 WHERE id = $1", parent, lease, until
    )
    recorder = Recorder()
    async with at_work(database_url, {"only": recorder}):
        assert await finished(connection, 2) == {parent: "completed", child: "completed"}
    assert recorder.runs == {child: 1}, "whoever waited for it waits no longer"


async def test_a_jobs_own_number_of_attempts_counts(database_url: str, connection: Any) -> None:
    (id,) = await enqueue(connection, 1, columns="max_attempts=5")

    async def fail(claim: Claim) -> Verdict:
        return Retry("no")

    recorder = Recorder(fail)
    async with at_work(database_url, {"only": recorder}):
        await finished(connection)
    assert recorder.runs == {id: 5}


async def test_pausing_and_resuming_are_events_with_their_actor(database_url: str, connection: Any) -> None:
    ids, link = await enqueue(connection, 1), Link(database_url)
    await control.pause(link, JOBS, ids, "anna")
    await control.resume(link, JOBS, ids, "bob")
    await link.close()
    events = await connection.fetch("SELECT actor, data FROM events ORDER BY event_id")
    assert [tuple(row) for row in events] == [("anna", '{"paused": true}'), ("bob", '{"paused": false}')]


@pytest.mark.parametrize(
    ("attempts", "is_open", "expected"),
    [
        (1, False, ("detected", 1, None)),
        (3, False, ("failed", 3, "Max retries exceeded (orphaned in generating)")),
        (3, True, ("detected", 2, None)),
    ],
)
async def test_an_orphaned_token_is_drawn_again_unless_its_budget_is_spent(
    attempts: int, is_open: bool, expected: tuple[Any, ...], database_url: str, connection: Any
) -> None:
    """With its budget spent it fails (C6), but for one whose paid call is still open: that is looked up first."""
    await connection.execute(MANY_TOKENS, 1, ["detected"], 0)
    await connection.execute(
        "UPDATE tokens_s0 SET status = 'generating', generation_attempts = $1, leased_by = 'dead', leased_until = now() - interval '1 s'",
        attempts,
    )
    link = Link(database_url)
    if is_open:
        id = await connection.fetchval("SELECT id FROM tokens_s0")
        await ledger.open_attempt(link.fetch, id, "generating", 0, provider="replicate", worker="dead")
    assert await Reaper(link, [TOKEN], 3, "reaper", []).reap() == 1
    await link.close()
    row = await connection.fetchrow("SELECT status, generation_attempts, generation_error FROM tokens_s0")
    assert tuple(row) == expected


def test_the_workflows_of_these_tests_are_sound() -> None:
    assert list(DEMO.problems()) == list(ONE_STEP.problems()) == []
