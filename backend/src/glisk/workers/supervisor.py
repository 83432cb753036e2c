"""Keeps worker processes alive: as many as are wanted, each replaced when it dies, all let go in the end."""

from __future__ import annotations

import asyncio
import os
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import IO, TypeAlias

import structlog

from glisk.engine.link import Link, LinkLost
from glisk.engine.workflow import Backoff
from glisk.workers.load import measure
from glisk.workers.process import crew_of
from glisk.workers.scaling import Load, Size, Steadied, wanted
from glisk.workers.signals import INTERRUPTED, ending, on_signals
from glisk.workers.staffing import Crew

log = structlog.get_logger()

REST = Backoff(first=timedelta(milliseconds=100), cap=timedelta(seconds=30))

Command: TypeAlias = Callable[[int], Sequence[str]]  # of a child that holds this lifeline


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often to look at the load, for how many looks it must be low before a process is sent away, how long to rest
    before a dead one is replaced, and from what age on a death is the first one again."""

    every: timedelta = timedelta(seconds=3)
    quiet_looks: int = 10
    rest: Backoff = REST
    healthy_after: timedelta = timedelta(minutes=1)


CALM = Rhythm()


async def supervise(url: str, crew: Crew, command: Command) -> None:
    """A signal stops all processes; a further one kills them, and us."""
    link, loop = Link(url), asyncio.get_running_loop()
    most = crew.size.maximum * crew.pace.concurrency
    look = partial(measure, link, crew.staff, most, crew_of(os.getpid()))
    supervisor = Supervisor(command, crew.size, crew.pace.concurrency, look)
    on_signals(partial(loop.call_soon_threadsafe, supervisor.stop), partial(loop.call_soon_threadsafe, supervisor.kill))
    try:
        await supervisor.run()
    finally:
        await link.close()


class Seat:
    """A place for one process. While it is kept, a process that dies is replaced."""

    def __init__(self, command: Command, rhythm: Rhythm) -> None:
        self.command, self.rhythm = command, rhythm
        self.process: Process | None = None
        self.lifeline: IO[bytes] | None = None
        self.released = asyncio.Event()

    async def keep(self) -> None:
        deaths = 0
        while not self.released.is_set():
            started = time.monotonic()
            reason = await self.run_one()
            is_young = time.monotonic() - started < self.rhythm.healthy_after.total_seconds()
            deaths = deaths + 1 if is_young else 1
            await self.rest_after(deaths, reason)

    async def run_one(self) -> str:
        """How it ended."""
        self.process = None
        theirs, ours = os.pipe()
        with os.fdopen(ours, "wb") as self.lifeline:
            try:
                self.process = await self.start(theirs)
            except OSError as error:
                return f"not started: {error}"
            finally:
                os.close(theirs)
            log.info("started worker process", pid=self.process.pid)
            return ending(await self.process.wait())

    async def start(self, lifeline: int) -> Process:
        """In a session of its own: Ctrl-C is for us, and we tell it."""
        return await asyncio.create_subprocess_exec(
            *self.command(lifeline), pass_fds=[lifeline], stdin=DEVNULL, start_new_session=True
        )

    async def rest_after(self, deaths: int, reason: str) -> None:
        pid = self.process.pid if self.process else None
        if self.released.is_set():
            log.info("worker process left", pid=pid, reason=reason)
            return
        seconds = self.rhythm.rest.after(deaths).total_seconds()
        log.warning("worker process died, starting another", pid=pid, reason=reason, after_s=seconds)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.released.wait()

    def release(self) -> None:
        self.released.set()
        if self.lifeline:
            self.lifeline.close()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            if self.process:
                self.process.kill()


class Supervisor:
    def __init__(
        self,
        command: Command,
        size: Size,
        per_process: int,
        measure: Callable[[], Awaitable[Load]],
        rhythm: Rhythm = CALM,
    ) -> None:
        self.command, self.size, self.per_process = command, size, per_process
        self.measure, self.rhythm = measure, rhythm
        self.seats: list[Seat] = []
        self.keeping: dict[asyncio.Task[None], Seat] = {}
        self.stopping = asyncio.Event()

    async def run(self) -> None:
        """Until `stop` is called and the last process has ended."""
        self.resize(self.size.minimum)
        scaling = asyncio.create_task(self.scale_on())
        stopping = asyncio.create_task(self.stopping.wait())
        done, _ = await asyncio.wait([scaling, stopping], return_when=asyncio.FIRST_COMPLETED)
        scaling.cancel()
        stopping.cancel()
        self.resize(0)
        await asyncio.gather(*self.keeping)
        if scaling in done:
            scaling.result()  # it does not end by itself: this raises what broke it

    def stop(self) -> None:
        log.info("stopping worker processes", processes=len(self.keeping))
        self.stopping.set()

    def kill(self) -> None:
        """Loses nothing: leases expire. A process that is just being started finds its lifeline cut."""
        for seat in self.keeping.values():
            seat.kill()
        os._exit(INTERRUPTED)

    async def scale_on(self) -> None:
        steadied = Steadied(self.rhythm.quiet_looks)
        while not self.size.is_fixed:
            with suppress(LinkLost):  # how much there is to do nobody knows: as many as before
                self.scale(await self.measure(), steadied)
            await asyncio.sleep(self.rhythm.every.total_seconds())
        await self.stopping.wait()

    def scale(self, load: Load, steadied: Steadied) -> None:
        size, before = self.size, len(self.seats)
        wish = steadied.after(wanted(load.ready, load.live, size.minimum, size.maximum, self.per_process))
        if wish != before:
            way = "up" if wish > before else "down"
            log.info(f"scaled {way}", processes=wish, before=before, ready=load.ready, at_work=load.live)
        self.resize(wish)

    def resize(self, processes: int) -> None:
        while len(self.seats) < processes:
            self.fill(Seat(self.command, self.rhythm))
        while len(self.seats) > processes:
            self.seats.pop().release()

    def fill(self, seat: Seat) -> None:
        self.seats.append(seat)
        task = asyncio.create_task(seat.keep())
        self.keeping[task] = seat
        task.add_done_callback(self.keeping.pop)
