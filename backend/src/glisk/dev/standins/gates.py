"""Where calls wait for a test to let them go on; nobody waits longer than the stand-in lives."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress


class Gates:
    def __init__(self) -> None:
        self.is_closing = False
        self.named: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.waited_for: set[asyncio.Event] = set()

    def clear(self) -> None:
        """Whoever waits goes on."""
        for event in self.waited_for:
            event.set()
        self.named.clear()

    def close(self) -> None:
        self.is_closing = True
        self.clear()

    def release(self, name: str) -> None:
        """It stays open: who was released before arriving must not wait for ever."""
        self.named[name].set()

    async def at(self, name: str) -> None:
        await self.until(self.named[name])

    async def rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.until(asyncio.Event())

    async def until(self, event: asyncio.Event) -> None:
        if self.is_closing:
            return
        self.waited_for.add(event)
        try:
            await event.wait()
        finally:
            self.waited_for.discard(event)
