"""A worker: claims rows, lets processors work on them, hands the verdicts to the settler. Hundreds at once in one process."""

from __future__ import annotations

import asyncio
import random
import time
import traceback
from collections import defaultdict, deque
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog

from glisk.engine import lanes, store, wakeup
from glisk.engine.burst import Burst
from glisk.engine.claim import Claim, Fence, Hears, Processor
from glisk.engine.decide import Done, Hold, Retry, Verdict, Wait, decide, storable
from glisk.engine.heart import Heart
from glisk.engine.link import Link, LinkLost, persistently
from glisk.engine.lookout import Lookout, ServedStep
from glisk.engine.notebook import Notebook
from glisk.engine.reaper import Reaper
from glisk.engine.settler import Settler
from glisk.engine.store import Decided
from glisk.engine.suspects import Suspects
from glisk.engine.workflow import Workflow, WorkTable

log = structlog.get_logger()

NOTE_LINKS = 8  # for what claims write while they work
ARRIVAL_S = 5.0  # how long a claim may be on its way when we stop


@dataclass(slots=True)
class Station:
    """One step that this worker serves, with its processor. `is_ready`: there may be rows waiting; `is_held_up`: its lane
    let no more through, so what ends there makes room."""

    workflow: Workflow
    waiting: str
    processor: Processor
    lane: lanes.Lane | None = None
    is_ready: bool = True
    is_held_up: bool = False
    burst: Burst = field(default_factory=Burst)

    def work(self, claim: Claim) -> Awaitable[Verdict]:
        deadline = self.workflow.steps[self.waiting].deadline
        return within(deadline, self.processor.run(claim)) if deadline else self.processor.run(claim)


@dataclass(frozen=True, slots=True)
class Pace:
    """How much at once, how much a claim, for how long a lease, how often to look without being told."""

    concurrency: int = 200
    batch: int = 100
    lease: timedelta = timedelta(seconds=30)
    poll: timedelta = timedelta(seconds=3)
    drain: timedelta = timedelta(seconds=20)
    most_reclaims: int = 3


DEFAULT_PACE = Pace()


class Worker:
    """`url` is PostgreSQL itself, where it listens and keeps its leases; what comes in short transactions goes through the
    `pooler`, if there is one."""

    def __init__(
        self, url: str, stations: Sequence[Station], name: str, pace: Pace = DEFAULT_PACE, pooler: str = ""
    ) -> None:
        self.url, self.stations, self.name, self.pace, self.pooler = url, stations, name, pace, pooler
        self.claims: dict[int, Claim] = {}
        self.work = asyncio.Event()
        self.stopping = asyncio.Event()
        self.is_drained = False  # whatever has not begun by then does not begin
        self.is_claiming = False
        self.link = self.a_link()
        self.lookout = Lookout(self.link, steps_by_table(stations), lambda: self.notified(""))
        self.suspects = Suspects(self, self.lookout, pace.lease.total_seconds() / 2)
        self.notebook = Notebook([self.a_link() for _ in range(NOTE_LINKS)], name, pace.lease, self.lose)
        good = sorted({status for station in stations for status in station.workflow.goods()})
        self.settler = Settler(self.a_link(), name, good, self.settled)
        self.heart = Heart(url, self.claims, pace.lease, self.lost_elsewhere)
        self.reaper = Reaper(self.a_link(), {station.workflow for station in stations}, pace.most_reclaims, name, good)

    def a_link(self) -> Link:
        return Link(self.pooler or self.url, steady=True, pooled=bool(self.pooler))

    async def run(self) -> None:
        """Until `stop` is called and what was under way has ended, or the time to drain is over."""
        self.loop = asyncio.get_running_loop()
        self.heart.start()
        helpers = [
            asyncio.create_task(helper)
            for helper in (
                *(self.settler.run(), self.notebook.run(), self.poll(), self.lookout.run()),
                *(self.pulse(), self.reap(), self.listen()),
            )
        ]
        claimers = [asyncio.create_task(self.claim_on()), asyncio.create_task(self.suspects.run())]
        try:
            await self.until_stopped_or_broken([*helpers, *claimers])
            await self.drain(claimers)
        finally:
            for task in (*claimers, *helpers):
                task.cancel()
            await asyncio.gather(*claimers, *helpers, return_exceptions=True)
            self.heart.stop()
            for link in (self.link, *self.notebook.links, self.settler.link, self.reaper.link):
                await link.close()

    def stop(self) -> None:
        self.stopping.set()
        self.work.set()

    async def until_stopped_or_broken(self, tasks: list[asyncio.Task[None]]) -> None:
        stopping = asyncio.create_task(self.stopping.wait())
        done, _ = await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        for task in done - {stopping}:
            task.result()  # none of them ends by itself: this raises what broke it

    # Claiming

    async def claim_on(self) -> None:
        while not self.stopping.is_set():
            await self.work.wait()
            self.work.clear()
            while not self.stopping.is_set() and (ready := self.ready_stations()):
                for station in ready:
                    if room := self.room():
                        await self.claim_for(station, min(room, self.pace.batch))

    def ready_stations(self) -> list[Station]:
        return [station for station in self.stations if station.is_ready] if self.room() else []

    def room(self) -> int:
        return 0 if self.suspects.is_alone else self.pace.concurrency - len(self.claims)

    async def claim_for(self, station: Station, limit: int) -> None:
        station.is_ready = False  # before the claim: a notification that arrives during it must not be lost
        try:
            with self.claiming():
                rows, is_all = await self.claimed(station, limit)
                self.begin(station, rows)
        except LinkLost as error:
            log.warning("claim failed", error=str(error))
            await asyncio.sleep(0.2)
            station.is_ready = True
            return
        if is_all:
            self.lookout.look.set()
        else:
            station.is_ready = True

    @contextmanager
    def claiming(self) -> Iterator[None]:
        """Whoever waits until nothing is at work waits for what is on its way too."""
        self.is_claiming = True
        try:
            yield
        finally:
            self.is_claiming = False
            self.work.set()

    async def claimed(self, station: Station, limit: int, *, suspects: bool = False) -> tuple[list[Any], bool]:
        """The rows, and whether these were all that can be had now."""
        terms: Any = {"limit": limit, "worker": self.name, "lease": self.pace.lease, "suspects": suspects}
        if station.lane:
            return await self.claimed_in(station.lane, station, terms)
        floor = None if suspects else station.burst.floor()
        rows = await store.claim(self.link.fetch, station.workflow, station.waiting, **terms, floor=floor)
        if not suspects:
            station.burst.goes_on(rows, limit)
        return rows, len(rows) < limit and floor is None

    async def claimed_in(self, lane: lanes.Lane, station: Station, terms: Any) -> tuple[list[Any], bool]:
        granted = await lanes.claim(self.link, lane, station.workflow, station.waiting, **terms)
        station.is_held_up = granted.is_full
        if granted.is_full and granted.next_in > 0:
            self.loop.call_later(granted.next_in, self.notified, station.workflow.name)
        return granted.rows, len(granted.rows) < terms["limit"]

    async def claim_suspect(self) -> bool:
        """Whether there was one."""
        for station in self.stations:
            if self.stopping.is_set():
                break
            for row in (await self.claimed(station, 1, suspects=True))[0]:
                log.warning("a suspect works alone", id=row["id"], workflow=station.workflow.name)
                self.begin(station, [row])
                return True
        return False

    # Working

    def begin(self, station: Station, rows: Sequence[Any]) -> None:
        """They are ours at once; work begins when the next claim was sent, so that the database works while we do."""
        active = station.workflow.active(station.waiting)
        claims = [Claim(station.workflow, station.waiting, active, row, self.notebook) for row in rows]
        self.claims.update((claim.id, claim) for claim in claims)
        if claims:
            together = deque(claims)
            self.loop.create_task(self.work_through(station, together))
            self.loop.call_soon(self.part, station, together)  # the loop comes to that when one of them waits

    def part(self, station: Station, claims: deque[Claim]) -> None:
        """All that are left get a task each."""
        while claims:
            self.loop.create_task(self.work_through(station, deque([claims.popleft()])))

    async def work_through(self, station: Station, claims: deque[Claim]) -> None:
        """One after the other for as long as none has to wait: a task of its own takes longer than work that does not. The
        first that waits keeps this one, and one that was cancelled gives nobody else its turn."""
        task = asyncio.current_task()
        assert task
        while claims and not task.cancelling():
            await self.work_on(station, claims.popleft(), task)

    async def work_on(self, station: Station, claim: Claim, task: asyncio.Task[None]) -> None:
        if claim.is_lost or self.is_drained:
            return self.conclude(claim, Wait())
        claim.task = task  # not before: a task that is cancelled before it begins says nothing
        try:
            verdict = await station.work(claim)
            if station.processor.lane:
                await self.tell_lane(station.processor.lane, verdict)
        except asyncio.CancelledError as error:
            is_ours = self.stopping.is_set() or claim.is_lost
            verdict = Wait() if is_ours else unexpected(error, claim)  # no attempt is used, unless it cancelled itself
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            verdict = unexpected(error, claim)
        return self.conclude(claim, verdict)

    def conclude(self, claim: Claim, verdict: Verdict) -> None:
        claim.task = None  # what is lost from now on must not stop whoever shares the task
        if claim.is_lost:
            self.forget(claim.fence)
            self.work.set()
        else:
            self.settler.put(claim.workflow.table, decided(claim, verdict))

    async def tell_lane(self, lane: str, verdict: Verdict) -> None:
        link = self.notebook.link
        if isinstance(verdict, Hold):
            if await persistently(
                lambda: lanes.hold(link, lane, verdict.reason, verdict.until, actor=self.name), "hold"
            ):
                log.warning("lane held", lane=lane, reason=verdict.reason)
        elif isinstance(verdict, Wait) and verdict.closes_lane:
            await persistently(lambda: lanes.slow(link, lane, verdict.after), "slow")

    def settled(self, group: Sequence[Decided]) -> None:
        for row, _ in group:
            self.forget((row.id, row.epoch))
        for status in {transition.status for _, transition in group if not transition.is_final}:
            self.wake_stations(status)
        for station in self.stations:
            station.is_ready = station.is_ready or station.is_held_up
        self.work.set()

    def wake_stations(self, status: str) -> None:
        for station in self.stations:
            station.is_ready = station.is_ready or station.waiting == status

    def forget(self, fence: Fence) -> None:
        """Not a later claim of the same row, which may be ours too."""
        if (claim := self.claims.get(fence[0])) and claim.epoch == fence[1]:
            del self.claims[fence[0]]

    # Losing

    def lost_elsewhere(self, fences: set[Fence]) -> None:
        """Called from the heart's thread."""
        self.loop.call_soon_threadsafe(self.lose, fences)

    def lose(self, fences: Iterable[Fence]) -> None:
        for id, epoch in fences:
            if (claim := self.claims.get(id)) and claim.epoch == epoch:
                claim.lose()

    # Helpers that run beside

    async def poll(self) -> None:
        while True:
            self.notified("")
            await asyncio.sleep(self.pace.poll.total_seconds())

    def notified(self, workflow: str) -> None:
        for station in self.stations:
            if workflow in ("", station.workflow.name):
                station.is_ready = True
        self.work.set()

    def told(self, receipt: str) -> None:
        """Whoever placed the order knows it; the others don't mind."""
        for processor in processors_at(self.stations):
            if isinstance(processor, Hears):
                processor.hint(receipt)

    async def pulse(self) -> None:
        while True:
            self.heart.pulse = time.monotonic()
            await asyncio.sleep(1)

    async def listen(self) -> None:
        await wakeup.listen(self.url, self.notified, self.heart.beat_now, self.told)

    async def reap(self) -> None:
        while True:
            with suppress(LinkLost):
                if await self.reaper.reap():
                    self.notified("")
            await asyncio.sleep(self.pace.lease.total_seconds() / 2)

    # Stopping

    async def drain(self, claimers: list[asyncio.Task[None]]) -> None:
        """Nothing new is claimed, though a claim that is on its way must arrive: nobody else knows of its rows. What does
        not end in time goes back to waiting, and no attempt is used."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.pace.drain.total_seconds()):
                await asyncio.wait(claimers)
                await self.idle()
        await asyncio.wait(claimers, timeout=ARRIVAL_S)
        self.is_drained = True
        for claim in list(self.claims.values()):
            claim.cancel()
        await self.idle()

    async def idle(self) -> None:
        while self.claims:
            self.work.clear()
            await self.work.wait()

    async def idle_or_stopping(self) -> None:
        while (self.claims or self.is_claiming) and not self.stopping.is_set():
            self.work.clear()
            await self.work.wait()


def processors_at(stations: Iterable[Station]) -> list[Processor]:
    """Each once: several stations may share one."""
    return list({id(station.processor): station.processor for station in stations}.values())


def steps_by_table(stations: Iterable[Station]) -> dict[WorkTable, list[ServedStep]]:
    found: dict[WorkTable, list[ServedStep]] = defaultdict(list)
    for station in stations:
        flow, waiting = station.workflow, station.waiting
        found[flow.table].append((flow.name, waiting, flow.active(waiting)))
    return found


async def within(deadline: timedelta, work: Awaitable[Verdict]) -> Verdict:
    try:
        async with asyncio.timeout(deadline.total_seconds()) as limit:
            return await work
    except TimeoutError:
        if not limit.expired():
            raise
        return Retry(f"It took longer than {deadline}", category="timeout")


def decided(claim: Claim, verdict: Verdict) -> Decided:
    """What a processor returns is not to be trusted: nonsense is a failure like any other, and must not be left lying."""
    jitter = 0.0 if isinstance(verdict, Done) else random.random()
    try:
        if not isinstance(verdict, Verdict):
            raise TypeError(f"a processor returns Done, Retry, Wait, Hold or Fail, not {verdict!r}")
        return claim, decide(claim.workflow, claim, verdict, jitter=jitter)
    except BaseException as error:  # its repr may raise anything
        return claim, decide(claim.workflow, claim, unexpected(error, claim), jitter=jitter)


def unexpected(error: BaseException, claim: Claim) -> Verdict:
    """Our own bug, as far as anybody knows: tried again, with the traceback in the log and, where there is room, on the row."""
    trace = "".join(traceback.format_exception(error))
    log.error("processor broke", id=claim.id, error=words_of(error), traceback=trace)
    facts = {"stacktrace": storable(trace, limit=20_000)} if "stacktrace" in claim.workflow.table.facts else {}
    return Retry(f"unexpected {words_of(error)}", category="unexpected", facts=facts)


def words_of(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:
        return f"{type(error).__name__}, which cannot be printed"
