"""What happens, as it happens: new events are read once, and handed to everybody who follows them.

Whoever was away says up to where they had come, gets from the database what they have missed, and then what is new: nothing
is left out and nothing comes twice. A storm of events is left to pass: nobody can follow that, and the work must not wait for
those who watch it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TypeAlias

import structlog

from glisk.chain.together import until_one_ends
from glisk.engine import wakeup
from glisk.engine.link import Link, LinkLost, persistently
from glisk.errors import BadQuery, DatabaseUnreachable
from glisk.repositories.event_log import EventLog, Position, position_in
from glisk.repositories.event_log import News as News

log = structlog.get_logger()
POLL_S, REST_S, STORM_S = 1.0, 0.25, 2.0  # at most four reads a second, however much happens; in a storm, fewer
AT_ONCE = 500  # events in one batch
MOST_MISSED = 10_000  # more than these are quicker looked at anew
BATCHES_WAITING = 64  # for one who follows; who is further behind is let go


class TooFarBehind(Exception):
    """More was missed than can be made up for, or the log is another one by now: look at everything anew, and follow from there."""


# Events; or the place where they go on, because what is before it was too much.
Batch: TypeAlias = list[News] | Position


class Follower:
    """`since`: what they know already, or will have from the database."""

    def __init__(self, since: Position) -> None:
        self.since = since
        self.waiting: asyncio.Queue[Batch | None] = asyncio.Queue(BATCHES_WAITING + 1)  # None: it is over
        self.is_over = False

    def give(self, batch: Batch) -> None:
        if self.waiting.qsize() >= BATCHES_WAITING:
            self.end()
        elif not self.is_over:
            self.waiting.put_nowait(batch)

    def end(self) -> None:
        """They get what waits for them, and no more."""
        if not self.is_over:
            self.is_over = True
            self.waiting.put_nowait(None)

    async def batches(self) -> AsyncIterator[Batch]:
        while (batch := await self.waiting.get()) is not None:
            if new := batch if isinstance(batch, Position) else self.new_of(batch):
                yield new

    def new_of(self, batch: list[News]) -> list[News]:
        """The very list, if all of it is new: what was written of it for others serves here too."""
        return batch if batch[0].position > self.since else [each for each in batch if each.position > self.since]


class Stream:
    """One for a process. While nobody follows, nothing is asked."""

    def __init__(self, url: str) -> None:
        self.url, self.link = url, Link(url, name="glisk stream")
        self.log = EventLog(self.link)
        self.followers: set[Follower] = set()
        self.position = Position(0, 0)  # of those who follow; without any it means nothing
        self.turn = asyncio.Lock()  # nobody joins while a batch is on its way
        self.has_followers, self.is_woken, self.is_stopped = asyncio.Event(), asyncio.Event(), False

    async def run(self) -> None:
        """For ever; without it nobody hears anything."""

        def wake(_: str = "") -> None:
            self.is_woken.set()

        hearing = wakeup.hear(self.url, {wakeup.WORK: wake, wakeup.LOST: wake}, wake, "hear of events")
        try:
            await until_one_ends(self.keep_reading(), hearing)
        finally:
            self.stop()
            await self.link.close()

    def stop(self) -> None:
        """Everybody's stream ends, and nobody's begins: a server cannot end before its answers do."""
        self.is_stopped = True
        for follower in self.followers:
            follower.end()

    async def now(self) -> str:
        """A key: who reads something now, and then follows what comes after it, has all."""
        try:
            return str(await self.log.now())
        except LinkLost as error:
            raise DatabaseUnreachable(str(error)) from error

    @asynccontextmanager
    async def subscribe(self, after: str | None = None) -> AsyncIterator[AsyncIterator[list[News]]]:
        """Batches of events after that key, else of those to come. Ends when the server does, and for who is too slow; they come
        back with the key of the last one they had. Raises TooFarBehind, at once or when a storm comes."""
        async with self.follow(after) as batches, aclosing(until_a_storm(batches)) as calm:
            yield calm

    @asynccontextmanager
    async def follow(self, after: str | None = None) -> AsyncIterator[AsyncIterator[Batch]]:
        """The same, for who goes on after a storm. Raises TooFarBehind, at once or never."""
        since = None if after is None else cursor_in(after)
        try:
            follower, missed_until = await self.join(since)
        except LinkLost as error:
            raise DatabaseUnreachable(str(error)) from error
        try:
            async with aclosing(self.told(since or missed_until, missed_until, follower)) as batches:
                yield batches
        finally:
            self.followers.discard(follower)
            if not self.followers:
                self.has_followers.clear()

    async def join(self, since: Position | None) -> tuple[Follower, Position]:
        """From where on they hear what is new. Up to there the database tells."""
        async with self.turn:
            now = await self.log.now()
            if not self.followers:
                self.position = now
            here = self.position
            # A place that is still to come is one of another database.
            if since and (since > now or await self.log.count(since, MOST_MISSED + 1, now) > MOST_MISSED):
                raise TooFarBehind
            follower = Follower(max(since or here, here))
            self.followers.add(follower)
            self.has_followers.set()
            if self.is_stopped:
                follower.end()
            return follower, here

    async def told(self, since: Position, until: Position, follower: Follower) -> AsyncGenerator[Batch, None]:
        while since < until and not follower.is_over:
            missed = await persistently(lambda: self.log.page(since, AT_ONCE, until), "read missed events")  # noqa: B023
            if not missed:
                break
            since = missed[-1].position
            yield missed
        async for batch in follower.batches():
            yield batch

    async def keep_reading(self) -> None:
        while True:
            await self.has_followers.wait()
            self.is_woken.clear()
            rest, is_all = await persistently(self.read_on, "read events")
            await asyncio.sleep(rest)
            if is_all:
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_S - rest):
                        await self.is_woken.wait()

    async def read_on(self) -> tuple[float, bool]:
        """How long to rest, and whether that was all there is."""
        async with self.turn:
            if not self.followers:
                return 0.0, False
            batch = await self.log.page(self.position, AT_ONCE)
            if batch:
                self.hand_out(batch, batch[-1].position)
            if len(batch) < AT_ONCE:
                return REST_S, True
            if await self.log.count(self.position, MOST_MISSED + 1) <= MOST_MISSED:
                return REST_S, False
            now = await self.log.now()
            self.hand_out(now, now)
            return STORM_S, False

    def hand_out(self, batch: Batch, position: Position) -> None:
        self.position = position
        for follower in self.followers:
            follower.give(batch)


async def until_a_storm(batches: AsyncIterator[Batch]) -> AsyncGenerator[list[News], None]:
    async for batch in batches:
        if isinstance(batch, Position):
            raise TooFarBehind
        yield batch


@asynccontextmanager
async def running(url: str) -> AsyncIterator[Stream]:
    """For as long as the block lasts."""
    stream = Stream(url)
    reading = asyncio.create_task(stream.run())
    reading.add_done_callback(tell_of_an_end)
    try:
        yield stream
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def tell_of_an_end(reading: asyncio.Task[None]) -> None:
    if not reading.cancelled() and (error := reading.exception()):
        log.error("stream of events broke", error=repr(error))


def cursor_in(key: str) -> Position:
    try:
        return position_in(key)
    except ValueError as error:
        raise BadQuery(f"after: {error}.") from error
