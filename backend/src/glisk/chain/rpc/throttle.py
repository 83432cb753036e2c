"""How fast, and how many at once, an endpoint is asked: both are learned from how it bears it."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

GROWS_EVERY_S = 5.0
GROWTH = 1.1
MODEST = 20  # calls a second: who asked for fewer was not limited for that


class Rate:
    """Calls a second. Turns are given out in order, ahead of time: a batch is waited for by those who come after it."""

    def __init__(self, most: float, least: float, now: Callable[[], float]) -> None:
        self.most, self.least, self.now = most, least, now
        self.value = most
        self.next_at, self.changed_at = now() - 1.0, -math.inf
        self.window_at, self.in_window, self.lately = now(), 0, 0

    async def turn(self, calls: int, sleep: Callable[[float], Awaitable[None]]) -> None:
        if (rest := self.rest_before(calls)) > 0:
            await sleep(rest)

    def rest_before(self, calls: int) -> float:
        now = self.now()
        self.count(now, calls)
        start = max(self.next_at, now - 1.0)  # what was not used in the last second may be used now
        self.next_at = start + calls / self.value
        return start - now

    def count(self, now: float, calls: int) -> None:
        if now - self.window_at >= 1.0:
            self.lately = self.in_window if now - self.window_at < 2.0 else 0
            self.window_at, self.in_window = now, 0
        self.in_window += calls

    def slow_down(self, sent_at: float) -> None:
        """Half of what was too much. Whatever was sent before the last time tells nothing new."""
        if sent_at <= self.changed_at:
            return
        self.value = max(self.least, min(self.value, max(self.in_window, self.lately, MODEST)) / 2)
        self.changed_at = self.now()

    def went_well(self) -> None:
        if self.value < self.most and self.now() - self.changed_at >= GROWS_EVERY_S:
            self.value = min(self.most, self.value * GROWTH)
            self.changed_at = self.now()


class Slots:
    """Requests at once: one more after a round of successes, half as many after a failure."""

    def __init__(self, most: int, now: Callable[[], float]) -> None:
        self.most, self.now = most, now
        self.cap, self.busy, self.changed_at = float(most), 0, -math.inf
        self.waiters: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        await self.taken()
        try:
            yield
        finally:
            self.busy -= 1
            self.pass_on()

    async def taken(self) -> None:
        if self.busy < int(self.cap) and not self.waiters:
            self.busy += 1
            return
        waiter = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():  # it was given one just before
                self.busy -= 1
            self.pass_on()
            raise

    def pass_on(self) -> None:
        while self.waiters and self.busy < int(self.cap):
            if not (waiter := self.waiters.popleft()).done():
                self.busy += 1
                waiter.set_result(None)

    def went_well(self) -> None:
        self.cap = min(float(self.most), self.cap + 1 / self.cap)
        self.pass_on()

    def slow_down(self, sent_at: float) -> None:
        if sent_at > self.changed_at:
            self.cap, self.changed_at = max(1.0, self.cap / 2), self.now()
