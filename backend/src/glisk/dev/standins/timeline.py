"""The time of a stand-in: it runs with the real one or stands still, and can be put forward; what is due happens in order."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

A_SECOND = 10**9  # times are whole nanoseconds, as providers print them


class Timeline:
    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.numbers = itertools.count()
        self.clear()

    def clear(self) -> None:
        self.ahead, self.stands_at = 0, None
        self.due: list[tuple[int, int, Callable[[], None]]] = []
        self.changed.set()

    ahead: int  # of the real time
    stands_at: int | None

    def now(self) -> int:
        return time.time_ns() + self.ahead if self.stands_at is None else self.stands_at

    def in_seconds(self, seconds: float) -> int:
        return self.now() + round(seconds * A_SECOND)

    def at(self, when: int, act: Callable[[], None]) -> None:
        heapq.heappush(self.due, (when, next(self.numbers), act))
        self.changed.set()

    def freeze(self) -> None:
        self.stands_at = self.now()
        self.changed.set()

    def flow(self) -> None:
        self.ahead, self.stands_at = self.now() - time.time_ns(), None
        self.changed.set()

    def advance(self, seconds: float) -> None:
        """What becomes due on the way happens at its own moment."""
        stood, goal = self.stands_at is not None, self.in_seconds(seconds)
        self.stands_at = self.now() if stood else 0
        while self.due and self.due[0][0] <= goal:
            when, _, act = heapq.heappop(self.due)
            self.stands_at = max(self.stands_at, when)  # what was due before it was known happens now
            act()
        self.ahead += round(seconds * A_SECOND)
        self.stands_at = goal if stood else None

    def catch_up(self) -> None:
        if self.due and self.due[0][0] <= self.now():
            self.advance(0)

    async def run(self) -> None:
        while True:
            self.catch_up()
            self.changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self.rest()):
                    await self.changed.wait()

    def rest(self) -> float | None:
        """Seconds until something is due; None when only a change can bring that about."""
        return (self.due[0][0] - self.now()) / A_SECOND if self.due and self.stands_at is None else None


def stamp(moment: int, digits: int = 6) -> str:
    """RFC 3339 as Go writes it: trailing zeros of the fraction are cut off, and with them the point."""
    seconds, rest = divmod(moment, A_SECOND)
    fraction = f".{rest:09}"[: digits + 1].rstrip("0").rstrip(".")
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"


def moment(text: str) -> int:
    """The reverse; ValueError when that is no time, or one without its zone."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return round(found.timestamp() * 1_000_000) * 1000
