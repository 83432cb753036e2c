"""Every statement of the engine, with the connection lost before it, after it, and after its commit: nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import asyncpg
import pytest

from glisk.engine import control, lanes, ledger, retention, store
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Retry, Verdict
from glisk.engine.lanes import Lane
from glisk.engine.link import Link, persistently
from glisk.engine.periodic import KNOW, Periodic, keep_time
from glisk.engine.statements import FIRST_FACT, every_statement, statement
from glisk.engine.worker import Station
from glisk.repositories.job_repository import JobRepository
from glisk.repositories.token_board import UNDRAWN, TokenBoard
from glisk.workers.load import measure
from glisk.workers.scaling import Load
from glisk.workflows import GOOD, IMAGE_EDIT, JOBS, TOKEN, TOKENS
from tests.builders import DRAWN, MANY_TOKENS, a_token_row, an_edit
from tests.cutter import Cutter, Moment, cutter_before
from tests.engines import ONE_STEP, PACE, Recorder, at_work, enqueue, finished, true

ROUNDS = 10 if os.environ.get("PROVE") else 1
LANE = Lane("provider", (JOBS,))
HOUR = timedelta(hours=1)

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("owners")]


@dataclass(frozen=True, slots=True)
class Site:
    """Everything under test goes through the cutter; `connection` looks past it."""

    url: str
    link: Link
    cutter: Cutter
    connection: Any
    database_url: str

    async def true(self, query: str) -> None:
        """Waits for it on a connection of its own. Nobody asks again and again: that keeps the heart from its turn."""
        connection = await asyncpg.connect(self.database_url)
        try:
            await true(connection, query)
        finally:
            await connection.close()

    async def surely(self, action: Callable[[], Awaitable[Any]]) -> Any:
        """As a caller does who was not answered: again."""
        return await persistently(action, "the test")

    async def ended(self, n: int) -> dict[int, str]:
        """What landed may be seen before its answer was lost."""
        await self.cutter.has_cut.wait()
        return await finished(self.connection, n)

    async def value(self, query: str) -> Any:
        return await self.connection.fetchval(query)


@pytest.fixture
async def site(database_url: str, connection: Any) -> AsyncIterator[Site]:
    async with cutter_before(database_url) as (cutter, url):
        link = Link(url)
        yield Site(url, link, cutter, connection, database_url)
        await link.close()


async def ends_once(site: Site, n: int, recorder: Recorder, **options: Any) -> None:
    """All that there is completes, each by one run and with one event."""
    processors = {"only": recorder, "editing": recorder}
    async with at_work(site.url, processors, **options):
        ended = await site.ended(n)
    assert set(ended.values()) == {"completed"}
    assert recorder.runs == dict.fromkeys(ended, 1)
    assert await site.value("SELECT count(*) FROM events WHERE to_status = 'completed'") == n


# What a worker runs.


async def claim(site: Site) -> None:
    """Rows whose claim nobody heard of come back after the lease."""
    await enqueue(site.connection, 5)
    await ends_once(site, 5, Recorder())


async def heartbeat(site: Site) -> None:
    """The next beat keeps the lease: the work goes on and is not done twice."""
    await enqueue(site.connection, 3)

    async def work_on_until_it_beats_again(claim: Claim) -> Verdict:
        await site.cutter.has_cut.wait()
        (then,) = await claim.link.fetch("SELECT leased_until FROM jobs WHERE id = $1", claim.id)
        await site.true(f"SELECT leased_until > '{then[0].isoformat()}' FROM jobs WHERE id = {claim.id}")
        return Done()

    patient = replace(
        PACE, lease=timedelta(seconds=5)
    )  # one beat is lost, and a busy machine may be late with the next
    await ends_once(site, 3, Recorder(work_on_until_it_beats_again), pace=patient)
    assert await site.value("SELECT count(*) FROM events WHERE to_status = 'pending'") == 0


async def note(site: Site) -> None:
    await enqueue(site.connection, 1)

    async def report(claim: Claim) -> Verdict:
        assert await claim.note({"halfway": True}, progress=40, payload={"seen": 1})
        return Done()

    await ends_once(site, 1, Recorder(report))
    assert await site.value("SELECT count(*) FROM events WHERE data @> '{\"halfway\": true}'") == 1, "told once"
    assert await site.value("SELECT (progress, payload)::text FROM jobs") == '(40,"{""seen"": 1}")'


async def settle(site: Site) -> None:
    """A failure counts once: two claims and two results are four epochs."""
    await enqueue(site.connection, 5)
    seen = Counter[int]()

    async def fail_at_first(claim: Claim) -> Verdict:
        seen[claim.id] += 1
        assert claim.row["retry_count"] == seen[claim.id] - 1
        return Retry("no route") if seen[claim.id] == 1 else Done()

    async with at_work(site.url, {"only": Recorder(fail_at_first)}):
        await site.ended(5)
    assert set(seen.values()) == {2}
    assert await site.value("SELECT array_agg(DISTINCT (status, epoch)::text) FROM jobs") == ["(completed,4)"]
    assert await site.value("SELECT count(*) FROM events") == 10


async def release(site: Site) -> None:
    """Whoever waits is set free once, whether the release was repeated or had landed."""
    jobs = JobRepository(site.link)
    parents = await jobs.enqueue_many([an_edit(), an_edit()])
    await jobs.enqueue_many([an_edit(parents=[job.id for job in parents]) for _ in range(3)])
    await ends_once(site, 5, Recorder(), workflow=IMAGE_EDIT)
    assert await site.value("SELECT sum(dependency_count) FROM jobs") == 0
    assert await site.value("SELECT count(*) FROM job_dependencies WHERE released_at IS NULL") == 0


async def reap(site: Site) -> None:
    await enqueue(site.connection, 5)
    await site.connection.execute(
        "UPDATE jobs SET status = 'only', epoch = 1, leased_by = 'dead', leased_until = now() - interval '1 s'"
    )
    await ends_once(site, 5, Recorder())
    assert await site.value("SELECT count(*) FROM events WHERE to_status = 'pending'") == 5
    assert await site.value("SELECT array_agg(DISTINCT epoch) FROM jobs") == [4]


async def bring_in(site: Site) -> None:
    await enqueue(site.connection, 2, columns="status='lost'")
    async with at_work(site.url, {"only": Recorder()}):
        assert set((await site.ended(2)).values()) == {"failed"}
    assert await site.value("SELECT count(*) FROM events WHERE to_status = 'failed'") == 2


async def claim_in_lane(site: Site) -> None:
    """The lane gets its places back, and never gives out more than it has."""
    await site.connection.execute(
        "INSERT INTO lanes (lane, max_concurrency, burst, tokens) VALUES ('provider', 2, 9, 9)"
    )
    await enqueue(site.connection, 6)
    at_once, most = 0, 0

    async def count(claim: Claim) -> Verdict:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return Done()

    await ends_once(site, 6, Recorder(count), lane=LANE)
    assert most <= 2
    assert not (await lanes.claim(site.link, LANE, ONE_STEP, "pending", limit=9, worker="w", lease=HOUR)).rows


async def tick(site: Site) -> None:
    """A turn whose answer was lost is skipped, never taken twice; the next one comes."""
    clock = Clock()
    keeping = asyncio.create_task(keep_time(site.link, [Periodic("audit", HOUR, clock.strike)], 0.01))
    await site.cutter.has_cut.wait()
    if site.cutter.moment is not Moment.BEFORE:
        assert clock.strikes == 0
        await site.connection.execute("UPDATE periodic SET next_at = now()")
    await clock.struck.wait()
    await stopped(keeping)
    assert clock.strikes == 1
    assert await site.value("SELECT next_at > now() FROM periodic")


class Clock:
    def __init__(self) -> None:
        self.strikes, self.struck = 0, asyncio.Event()

    async def strike(self) -> None:
        self.strikes += 1
        self.struck.set()


async def stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


# What others run, and run again when they were not answered.


async def pick(site: Site) -> None:
    """The locks go with the connection."""
    await site.connection.execute(MANY_TOKENS, 3, ["detected"], 0)

    async def picked() -> list[int]:
        async with site.link.transaction() as fetch:
            return await store.pick(fetch, TOKEN, "detected", 10)

    assert len(await site.surely(picked)) == 3


async def enqueue_(site: Site) -> None:
    """With a unique key a caller may ask again."""
    await site.surely(lambda: JobRepository(site.link).enqueue(an_edit(unique_key="k")))
    await ends_once(site, 1, Recorder(), workflow=IMAGE_EDIT)


async def depend(site: Site) -> None:
    jobs = JobRepository(site.link)
    parent = await jobs.enqueue(an_edit())
    await site.surely(lambda: jobs.enqueue(an_edit(unique_key="k", parents=[parent.id])))
    assert await site.value("SELECT sum(dependency_count) FROM jobs") == 1
    await ends_once(site, 2, Recorder(), workflow=IMAGE_EDIT)


async def depended(site: Site) -> None:
    """On one that has ended already: nobody waits, and it is known all the same."""
    jobs = JobRepository(site.link)
    parent = await jobs.enqueue(an_edit())
    await site.value("UPDATE jobs SET status = 'completed', finished_at = now()")
    await site.surely(lambda: jobs.enqueue(an_edit(unique_key="k", parents=[parent.id])))
    assert await site.value("SELECT count(*) FROM job_dependencies WHERE released_at IS NOT NULL") == 1
    assert await site.value("SELECT count(*) FROM jobs WHERE dependency_count = 0 AND finished_at IS NULL") == 1


async def control_(site: Site) -> None:
    """Cancelled and sent on again, each once; what waited for it was told."""
    jobs = JobRepository(site.link)
    parent = await jobs.enqueue(an_edit())
    child = await jobs.enqueue(an_edit(parents=[parent.id]))
    both = [parent.id, child.id]
    await site.surely(lambda: control.cancel(site.link, JOBS, [parent.id], "anna", GOOD))
    assert await site.value("SELECT count(*) FROM events WHERE to_status = 'failed'") == 2
    await site.surely(lambda: control.retry(site.link, JOBS, both, "pending", "anna"))
    assert await site.value("SELECT array_agg(epoch ORDER BY id) FROM jobs") == [2, 1]
    await ends_once(site, 2, Recorder(), workflow=IMAGE_EDIT)


async def pause(site: Site) -> None:
    ids = await enqueue(site.connection, 1)
    await site.surely(lambda: control.pause(site.link, JOBS, ids, "anna"))
    assert await site.value("SELECT count(*) FROM events") == 1
    await site.surely(lambda: control.resume(site.link, JOBS, ids, "anna"))
    assert await site.value("SELECT count(*) FROM events") == 2
    await ends_once(site, 1, Recorder())


async def open_attempt(site: Site) -> None:
    """There is no second open call, and the caller learns the seed of the first, with which its answer is found."""
    seeds = iter(range(1, 10))

    def opened() -> Awaitable[ledger.Attempt]:
        return ledger.open_attempt(site.link.fetch, 7, "only", 1, provider="p", worker="w", seed=next(seeds))

    attempt = await site.surely(opened)
    assert attempt.is_resumed == (site.cutter.moment is not Moment.BEFORE)
    row = await site.connection.fetch("SELECT attempt_id, seed, outcome FROM attempts")
    assert [tuple(found) for found in row] == [(attempt.id, attempt.seed, "open")]


async def record_attempt(site: Site) -> None:
    attempt = await ledger.open_attempt(site.link.fetch, 7, "only", 1, provider="p", worker="w")
    await site.surely(lambda: ledger.record(site.link.fetch, attempt.id, "done", cost=Decimal("0.003")))
    row = await site.connection.fetch("SELECT outcome, cost FROM attempts")
    assert [tuple(found) for found in row] == [("done", Decimal("0.003"))]


async def reading_the_ledger(site: Site) -> None:
    """Nothing is written, so it is simply asked again."""
    await ledger.open_attempt(site.link.fetch, 7, "only", 1, provider="p", worker="w", cost=Decimal("0.003"))
    assert await site.surely(lambda: ledger.limited_for(site.link.fetch, 7, "only")) == timedelta()
    assert (await site.surely(lambda: ledger.spent_today(site.link.fetch)))[1] == Decimal("0.003")
    assert await site.surely(lambda: ledger.left_open(site.link.fetch, JOBS, "p", "only")) == []


async def a_lane(site: Site) -> None:
    await site.connection.execute(
        "INSERT INTO lanes (lane, max_concurrency, max_rate, rate) VALUES ('provider', 4, 8, 8)"
    )


async def slow_lane(site: Site) -> None:
    await a_lane(site)
    await site.surely(lambda: lanes.slow(site.link, "provider", HOUR))
    assert await site.value("SELECT rate FROM lanes WHERE open_at > now()") == 4, "halved once"


async def hold_lane(site: Site) -> None:
    await a_lane(site)
    await site.surely(lambda: lanes.hold(site.link, "provider", "401"))
    assert await site.value("SELECT held_reason FROM lanes") == "401"


async def resume_lane(site: Site) -> None:
    await hold_lane(site)
    assert await site.surely(lambda: lanes.resume(site.link, "provider"))
    assert await site.value("SELECT count(*) FROM lanes WHERE held_at IS NULL") == 1


async def limit_lane(site: Site) -> None:
    await a_lane(site)
    assert await site.surely(lambda: lanes.limit(site.link, "provider", 9, 2.5))
    assert await site.value("SELECT (max_concurrency, max_rate, rate, burst)::text FROM lanes") == "(9,2.5,2.5,2.5)"


async def every_lane(site: Site) -> None:
    await a_lane(site)
    (lane,) = await site.surely(lambda: lanes.every_lane(site.link))
    assert lane["lane"] == "provider"


async def prune(site: Site) -> None:
    await enqueue(site.connection, 25)
    await site.connection.execute("UPDATE jobs SET status = 'completed', finished_at = now() - interval '1 day'")
    kept = await enqueue(site.connection, 1)
    await site.surely(lambda: retention.prune(site.link, JOBS, HOUR, batch=10))
    assert await site.value("SELECT array_agg(id) FROM jobs") == kept


async def due(site: Site) -> None:
    """Who does not hear what is due finds it by the poll."""
    await enqueue(site.connection, 1, columns="not_before=now() + interval '100 ms'")
    await ends_once(site, 1, Recorder())


async def suspects(site: Site) -> None:
    """What killed nobody in the end is tried alone, and done."""
    await enqueue(site.connection, 2, columns="reclaims=2")
    await ends_once(site, 2, Recorder())


async def load(site: Site) -> None:
    await enqueue(site.connection, 7)
    staff = [Station(ONE_STEP, "pending", Recorder())]
    assert await site.surely(lambda: measure(site.link, staff, 5, "w")) == Load(ready=5, live=0)


async def progress(site: Site) -> None:
    await enqueue(site.connection, 1)

    async def report(claim: Claim) -> Verdict:
        claim.progress(40)
        await site.cutter.has_cut.wait()
        await site.true("SELECT progress = 40 FROM jobs")
        return Done()

    await ends_once(site, 1, Recorder(report))


async def make_lane(site: Site) -> None:
    await site.surely(lambda: lanes.make(site.link, "provider", 3))
    assert await site.value("SELECT array_agg(max_concurrency) FROM lanes") == [3]


async def place_steps(site: Site) -> None:
    await a_lane(site)
    await site.surely(lambda: lanes.place(site.link, {("simple", "only"): "provider"}))
    assert await site.value("SELECT array_agg((workflow, active, lane)::text) FROM lane_steps") == [
        "(simple,only,provider)"
    ]


async def pause_workflow(site: Site) -> None:
    await site.surely(lambda: control.pause_workflow(site.link, "token", "anna"))
    assert await site.value("SELECT array_agg(to_status) FROM events") == ["paused"]


async def resume_workflow(site: Site) -> None:
    await control.pause_workflow(site.link, "token", "anna")
    await site.surely(lambda: control.resume_workflow(site.link, "token", "anna"))
    assert await site.value("SELECT array_agg(to_status ORDER BY event_id) FROM events") == ["paused", "resumed"]


async def paused_workflows(site: Site) -> None:
    await control.pause_workflow(site.link, "token", "anna")
    (paused,) = await site.surely(lambda: control.paused_workflows(site.link))
    assert paused["workflow"] == "token"


Scenario: TypeAlias = Callable[[Site], Awaitable[None]]
ALONE: dict[str, Scenario] = {
    "claim": claim,
    "heartbeat": heartbeat,
    "note": note,
    "settle": settle,
    "tick": tick,
    "pause": pause,
    "open_attempt": open_attempt,
    "record_attempt": record_attempt,
    **dict.fromkeys(("limited_since", "spent_today", "left_open"), reading_the_ledger),
    "prune": prune,
    "slow_lane": slow_lane,
    "hold_lane": hold_lane,
    "resume_lane": resume_lane,
    "limit_lane": limit_lane,
    "every_lane": every_lane,
    "make_lane": make_lane,
    "place_steps": place_steps,
    "due": due,
    "load": load,
    "suspects": suspects,
    "progress": progress,
    "pause_workflow": pause_workflow,
    "paused_workflows": paused_workflows,
    "enqueue": enqueue_,
}
IN_TRANSACTION: dict[str, Scenario] = {
    "lock_lane": claim_in_lane,
    "claim_in_lane": claim_in_lane,
    "release": release,
    "reap": reap,
    "statuses": bring_in,
    "bring_in": bring_in,
    "pick": pick,
    "resume_workflow": resume_workflow,
    "depend": depend,
    "depended": depended,
    "control": control_,
}
# A statement alone is its own transaction: after it is after its commit.
CASES = [(name, moment) for name in ALONE for moment in (Moment.BEFORE, Moment.COMMITTED)] + [
    (name, moment) for name in IN_TRANSACTION for moment in (Moment.BEFORE, Moment.AFTER, Moment.COMMITTED)
]


def test_every_statement_of_the_engine_is_among_the_cases() -> None:
    assert {name for name, _ in CASES} == set(every_statement())


@pytest.mark.parametrize("_round", range(ROUNDS))
@pytest.mark.parametrize(("name", "moment"), CASES)
async def test_a_connection_lost_around_a_statement_costs_nothing_but_time(
    name: str, moment: Moment, _round: int, site: Site
) -> None:
    site.cutter.aim(texts_of(name), moment)
    await (ALONE | IN_TRANSACTION)[name](site)
    assert site.cutter.has_cut.is_set(), "it was put to the test"


def texts_of(name: str) -> set[str]:
    """With the facts that the scenarios leave."""
    left = [(), ("error_message",), ("progress", "payload")] if name in FIRST_FACT else [()]
    return {statement(name, JOBS, facts, counted=(JOBS,)) for facts in left} | {statement(name, TOKENS)}


@pytest.mark.parametrize("moment", [Moment.BEFORE, Moment.AFTER, Moment.COMMITTED])
@pytest.mark.parametrize(
    ("decision", "status", "facts"), [("accept", "uploading", ()), ("reject", "detected", tuple(UNDRAWN))]
)
async def test_what_a_person_decided_of_a_token_is_done_once(
    decision: str, status: str, facts: tuple[str, ...], moment: Moment, site: Site
) -> None:
    id = await a_token_row(site.connection, status="review", finished_at=datetime.now(UTC), **DRAWN)
    await site.connection.execute("INSERT INTO image_prints (item_id, coarse, fine) VALUES ($1, 0, '')", id)
    board = TokenBoard(site.link)
    seen = await board.named(["7"])
    site.cutter.aim({statement("control", TOKENS, facts)}, moment)
    outcome = await site.surely(lambda: getattr(board, decision)(seen, "anna"))
    assert site.cutter.has_cut.is_set()
    is_repeated = moment is not Moment.COMMITTED
    assert (len(outcome.moved), [*outcome.left]) == ((1, []) if is_repeated else (0, [f"{status}, not in review"]))
    assert await site.value("SELECT (status, epoch)::text FROM tokens_s0") == f"({status},1)"
    assert await site.value("SELECT array_agg(to_status) FROM events") == [status]
    assert await site.value("SELECT count(*) FROM image_prints") == (decision == "accept")


@pytest.mark.parametrize("moment", [Moment.BEFORE, Moment.COMMITTED])
async def test_periodic_work_begins_although_the_database_was_away(moment: Moment, site: Site) -> None:
    site.cutter.aim({KNOW}, moment)
    clock = Clock()
    keeping = asyncio.create_task(keep_time(site.link, [Periodic("audit", HOUR, clock.strike)], 0.01))
    await clock.struck.wait()
    await stopped(keeping)
    assert site.cutter.has_cut.is_set()
