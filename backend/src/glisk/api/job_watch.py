"""How jobs stand, as it changes: one question a moment for all that are watched, however many watch them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from glisk.chain.together import until_one_ends
from glisk.engine import wakeup
from glisk.engine.link import persistently
from glisk.errors import StreamsFull
from glisk.repositories.job_view import JobView, Standing

log = structlog.get_logger()
LOOK_EVERY_S, REST_S = (
    0.5,
    0.1,
)  # progress is written twice a second; a storm of notifications asks no more often than this
MOST = 2000  # who watch at once


class Watcher:
    """Of one job: the newest is enough, what came before it need not be seen."""

    def __init__(self) -> None:
        self.changed, self.is_over = asyncio.Event(), False
        self.standing: Standing | None = None
        self.told: Standing | None = None

    def see(self, standing: Standing | None) -> None:
        """None: the job is gone."""
        self.standing = standing or self.standing
        self.is_over = standing is None or standing.is_over
        if self.is_over or self.standing != self.told:
            self.changed.set()

    async def standings(self) -> AsyncGenerator[Standing, None]:
        """However slowly they are taken: the last one is always told."""
        while True:
            await self.changed.wait()
            self.changed.clear()
            if self.standing and self.standing != self.told:
                self.told = self.standing
                yield self.standing
            if self.is_over and self.standing == self.told:
                return


class JobWatch:
    """One for a process. While nobody watches, nothing is asked."""

    def __init__(self, url: str, view: JobView) -> None:
        self.url, self.view = url, view
        self.watchers: dict[int, set[Watcher]] = defaultdict(set)
        self.is_watched, self.is_woken, self.is_stopped = asyncio.Event(), asyncio.Event(), False

    @property
    def count(self) -> int:
        return sum(map(len, self.watchers.values()))

    async def run(self) -> None:
        def wake(_: str = "") -> None:
            self.is_woken.set()

        hearing = wakeup.hear(self.url, {wakeup.WORK: wake, wakeup.LOST: wake}, wake, "hear of jobs")
        await until_one_ends(self.look_on(), hearing)

    async def look_on(self) -> None:
        while True:
            await self.is_watched.wait()
            self.is_woken.clear()
            await persistently(self.look, "look at watched jobs")
            await asyncio.sleep(REST_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S - REST_S):
                    await self.is_woken.wait()

    async def look(self) -> None:
        watched = list(self.watchers)
        found = await self.view.standing(watched)
        for id in watched:
            for watcher in self.watchers.get(id, ()):
                watcher.see(found.get(id))

    @asynccontextmanager
    async def watching(self, id: int) -> AsyncIterator[AsyncIterator[Standing]]:
        """How the job stands now, and whenever that changes, until it has ended. Raises StreamsFull."""
        if self.count >= MOST:
            raise StreamsFull
        watcher = Watcher()
        self.watchers[id].add(watcher)
        self.is_watched.set()
        self.is_woken.set()
        if self.is_stopped:
            watcher.see(None)
        try:
            yield watcher.standings()
        finally:
            self.forget(id, watcher)

    def forget(self, id: int, watcher: Watcher) -> None:
        self.watchers[id].discard(watcher)
        if not self.watchers[id]:
            del self.watchers[id]
        if not self.watchers:
            self.is_watched.clear()

    def stop(self) -> None:
        """Everybody's stream ends, and nobody's begins: a server cannot end before its answers do."""
        self.is_stopped = True
        for watchers in self.watchers.values():
            for watcher in watchers:
                watcher.see(None)


@asynccontextmanager
async def running(url: str, view: JobView) -> AsyncIterator[JobWatch]:
    """For as long as the block lasts."""
    watch = JobWatch(url, view)
    looking = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
