"""Lanes: what a provider can take is never exceeded, however many workers there are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import structlog

from glisk.engine import lanes
from glisk.engine.claim import Claim, Processor
from glisk.engine.decide import Done, Hold, Verdict
from glisk.engine.lanes import Lane
from glisk.engine.link import Link, LinkLost
from glisk.engine.statements import statement
from glisk.engine.worker import Station, Worker
from glisk.engine.workflow import Step, Workflow
from glisk.processors import Limits
from glisk.settings import Settings
from glisk.workers.staffing import make_lanes, stations
from glisk.workflows import JOBS, TOKEN, TOKENS
from tests.builders import MANY_TOKENS
from tests.engines import ONE_STEP, PACE, Recorder, at_work, enqueue, finished, running

LEASE = timedelta(minutes=1)
LANE = Lane("provider", (TOKENS, JOBS))


OTHER = Workflow("other", JOBS, {"pending": Step("another", "completed")})


async def a_lane(connection: Any, concurrency: int, rate: float = 1e9, burst: float = 1e9) -> None:
    await connection.execute(
        "INSERT INTO lanes (lane, max_concurrency, max_rate, rate, burst, tokens) VALUES ('provider', $1, $2, $2, $3, $3)",
        *(concurrency, rate, burst),
    )


async def take(link: Link, limit: int = 100, flow: Workflow = ONE_STEP, lane: Lane = LANE) -> int:
    waiting = next(iter(flow.steps))
    granted = await lanes.claim(link, lane, flow, waiting, limit=limit, worker="w", lease=LEASE)
    return len(granted.rows)


async def test_no_more_are_at_work_than_the_lane_allows(database_url: str, connection: Any) -> None:
    await a_lane(connection, concurrency=5)
    await enqueue(connection, 100)
    links = [Link(database_url) for _ in range(8)]
    taken = await asyncio.gather(*(take(link, 3) for link in links))
    assert sum(taken) == 5
    await asyncio.gather(*(link.close() for link in links))


class Crowd:
    """Who is at the provider, by whatever processor, and how many there ever were at once."""

    def __init__(self) -> None:
        self.inside, self.most, self.door = 0, 0, asyncio.Event()

    def kind(self) -> type[Processor]:
        """A processor's class that only its own worker knows."""

        class Visiting:
            lane: str | None = "provider"
            limits = Limits(concurrency=2)

            async def run(_, claim: Claim) -> Verdict:
                self.inside += 1
                self.most = max(self.most, self.inside)
                await self.door.wait()
                self.inside -= 1
                return Done()

        return Visiting

    @asynccontextmanager
    async def of(self, flow: Workflow, url: str, link: Link) -> AsyncIterator[Worker]:
        staff = stations([flow], [flow], {step.process: self.kind() for step in flow.steps.values()}, Settings())
        await make_lanes(link, staff)
        worker = Worker(url, staff, flow.name, PACE)
        async with running(worker):
            yield worker


async def test_workers_with_different_processors_of_different_workflows_share_a_lane(
    database_url: str, link: Link, connection: Any
) -> None:
    crowd = Crowd()
    async with AsyncExitStack() as stack:
        await enqueue(connection, 5)
        await stack.enter_async_context(crowd.of(ONE_STEP, database_url, link))
        while crowd.inside < 2:
            await connection.fetchval("SELECT 1")
        await enqueue(connection, 5, OTHER)
        second = await stack.enter_async_context(crowd.of(OTHER, database_url, link))
        while not second.stations[0].is_held_up:
            await connection.fetchval("SELECT 1")
        crowd.door.set()
        assert set((await finished(connection, 10)).values()) == {"completed"}
    assert crowd.most == 2


async def test_rows_of_another_table_count_too(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=5)
    await connection.execute(MANY_TOKENS, 3, ["detected"], 0)
    await enqueue(connection, 9)
    assert [await take(link, flow=TOKEN), await take(link), await take(link, flow=TOKEN)] == [3, 2, 0]


async def test_a_step_stands_where_who_started_last_has_put_it(link: Link, connection: Any) -> None:
    for name in ("old", "new"):
        await lanes.make(link, name, 9)
    for lane in ("old", "new", None):
        await lanes.place(link, {("simple", "only"): lane, ("other", "another"): "old"})
        found = dict(await connection.fetch("SELECT workflow, lane FROM lane_steps"))
        assert found == {"simple": lane, "other": "old"}


async def test_while_a_step_changes_its_lane_neither_lane_takes_too_many(link: Link, connection: Any) -> None:
    """A worker from before still claims through the old one."""
    await a_lane(connection, concurrency=3)
    await lanes.make(link, "new", 5, lanes.ANY_RATE)
    await lanes.place(link, {("simple", "only"): "new"})
    await enqueue(connection, 20)
    after = Lane("new", LANE.tables)
    assert [await take(link, 2), await take(link, 2, lane=after)] == [2, 2]
    assert [await take(link), await take(link, lane=after), await take(link)] == [0, 1, 0]
    assert await connection.fetchval("SELECT lane FROM lane_steps") == "new", "the old one does not take it back"


async def test_a_lane_that_was_made_anew_counts_the_steps_of_workers_that_went_on(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=5)
    await enqueue(connection, 9)
    await enqueue(connection, 9, OTHER)
    assert await take(link, 3) == 3
    await connection.execute("DELETE FROM lanes")
    await a_lane(connection, concurrency=5)
    assert await connection.fetchval("SELECT count(*) FROM lane_steps") == 0
    assert [await take(link, 1), await take(link, flow=OTHER)] == [1, 1]


async def test_a_worker_that_stops_while_it_holds_the_lane_does_not_hold_it_up(
    link: Link, database_url: str, connection: Any
) -> None:
    await a_lane(connection, concurrency=5)
    await enqueue(connection, 1)
    stopped = Link(database_url, steady=True)

    async def stop_inside() -> None:
        async with stopped.transaction() as fetch:
            assert await fetch(statement("lock_lane"), "provider")
            assert await take(link) == 1  # the server has ended the transaction of the one that said no more

    with pytest.raises(LinkLost):
        await stop_inside()


async def test_the_bucket_gives_no_more_than_it_holds(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=1000, rate=0.001, burst=7)
    await enqueue(connection, 100)
    assert [await take(link), await take(link)] == [7, 0]


async def test_it_fills_up_again_with_time(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=1000, rate=10, burst=20)
    await enqueue(connection, 100)
    assert await take(link) == 20
    await connection.execute("UPDATE lanes SET refilled_at = refilled_at - interval '1 second'")
    assert await take(link) == 10


async def test_a_held_lane_gives_nothing_until_it_is_resumed(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=10)
    await enqueue(connection, 1)
    assert await lanes.hold(link, "provider", "401 from the provider")
    assert not await lanes.hold(link, "provider", "said again")
    assert await take(link) == 0
    assert await connection.fetchval("SELECT held_reason FROM lanes") == "401 from the provider"
    assert await lanes.resume(link, "provider")
    assert await take(link) == 1


async def test_a_429_closes_the_lane_and_halves_its_rate_once(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=10, rate=8, burst=8)
    await enqueue(connection, 10)
    for _ in range(5):  # five calls in flight report the same thing
        await lanes.slow(link, "provider", timedelta(seconds=7))
    assert await take(link) == 0
    row = await connection.fetchrow("SELECT rate, open_at > now() + interval '6 s' AS closed FROM lanes")
    assert (row["rate"], row["closed"]) == (4, True)


async def test_the_rate_grows_back(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=10, rate=8, burst=8)
    await lanes.slow(link, "provider", timedelta())
    await connection.execute("UPDATE lanes SET refilled_at = now() - interval '10 s'")
    await enqueue(connection, 1)
    await take(link)
    assert 5.5 < await connection.fetchval("SELECT rate FROM lanes") < 5.8  # 2 % of what is allowed a second
    await connection.execute("UPDATE lanes SET refilled_at = now() - interval '1 hour'")
    await enqueue(connection, 1)
    await take(link)
    assert await connection.fetchval("SELECT rate FROM lanes") == 8


async def test_a_lane_that_somebody_deleted_is_closed_and_told_of_once_in_a_while(link: Link, connection: Any) -> None:
    await enqueue(connection, 1)
    lane = Lane("provider", (JOBS,))
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            granted = await lanes.claim(link, lane, ONE_STEP, "pending", limit=1, worker="w", lease=LEASE)
            assert granted == ([], True, 0)
    assert [(entry["log_level"], entry["lane"]) for entry in logs] == [("warning", "provider")]


async def test_a_worker_goes_on_when_a_deleted_lane_is_made_again(
    database_url: str, link: Link, connection: Any
) -> None:
    await enqueue(connection, 3)
    recorder = Recorder()
    async with at_work(database_url, {"only": recorder}, lane=LANE) as worker:
        while not worker.stations[0].is_held_up:
            await connection.fetchval("SELECT 1")
        await lanes.make(link, "provider", 5)
        assert set((await finished(connection, 3)).values()) == {"completed"}


async def test_a_rate_is_set_as_if_the_lane_had_been_made_with_it(link: Link, connection: Any) -> None:
    await lanes.make(link, "provider", 3)
    await lanes.make(link, "twin", 9, 2.5)
    assert await lanes.limit(link, "provider", 9, 2.5)
    limited, twin = await connection.fetch(
        "SELECT max_concurrency, max_rate, rate, burst, tokens FROM lanes ORDER BY lane"
    )
    assert tuple(limited) == tuple(twin)
    assert await lanes.limit(link, "provider", 9, lanes.ANY_RATE)
    assert (await lanes.every_lane(link))[0]["max_rate"] is None
    assert not await lanes.limit(link, "nowhere", 9, 2.5)


async def test_a_lane_limited_without_a_rate_keeps_its_own(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=3, rate=8, burst=20)
    await lanes.slow(link, "provider", timedelta())
    before = await connection.fetchrow("SELECT max_rate, rate, burst, tokens FROM lanes")
    assert await lanes.limit(link, "provider", 9)
    assert await connection.fetchrow("SELECT max_rate, rate, burst, tokens FROM lanes") == before
    assert await connection.fetchval("SELECT max_concurrency FROM lanes") == 9


async def test_a_lane_slower_than_all_others_can_still_be_slowed(link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=1, rate=0.001, burst=1)
    await lanes.slow(link, "provider", timedelta(seconds=1))
    assert await connection.fetchval("SELECT rate = max_rate FROM lanes")


async def test_a_hold_verdict_holds_the_lane_and_fails_nothing(database_url: str, link: Link, connection: Any) -> None:
    await a_lane(connection, concurrency=3)
    await enqueue(connection, 20)
    mended = False

    async def refuse(claim: Claim) -> Verdict:
        return Done() if mended else Hold("401: set the token")

    processor = Recorder(refuse)
    processor.lane = "provider"
    worker = Worker(database_url, [Station(ONE_STEP, "pending", processor, LANE)], "w", PACE)
    running = asyncio.create_task(worker.run())
    await processor.started.wait()
    while (
        await connection.fetchval("SELECT count(*) FROM jobs WHERE leased_by IS NOT NULL OR error_message IS NULL") > 17
    ):
        pass
    assert await connection.fetchval("SELECT count(*) FROM jobs WHERE status = 'pending' AND retry_count = 0") == 20
    mended = True
    await lanes.resume(link, "provider")
    assert set((await finished(connection, 20)).values()) == {"completed"}
    worker.stop()
    await running


@pytest.mark.parametrize(("concurrency", "rate"), [(3, 1e9), (100, 20.0)])
async def test_what_waits_for_its_lane_goes_on_without_a_poll(
    concurrency: int, rate: float, database_url: str, connection: Any
) -> None:
    await a_lane(connection, concurrency, rate, burst=min(rate, 1e9))
    await enqueue(connection, 30)
    recorder = Recorder()
    recorder.lane = "provider"
    pace = replace(PACE, poll=timedelta(hours=1))
    worker = Worker(database_url, [Station(ONE_STEP, "pending", recorder, LANE)], "w", pace)
    running = asyncio.create_task(worker.run())
    assert set((await finished(connection, 30)).values()) == {"completed"}
    worker.stop()
    await running
    assert recorder.runs.total() == 30
