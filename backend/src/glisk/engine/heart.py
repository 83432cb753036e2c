"""Keeps our leases alive, in a thread and on a connection of its own: a busy event loop must not look like death.

Nor must a hung one look like life: the loop counts up a pulse, and when that stands still the heart stops too.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import structlog

from glisk.engine.claim import Claim, Fence, by_table, fences, lost
from glisk.engine.link import Link
from glisk.engine.statements import statement

log = structlog.get_logger()

HUNG_AFTER_S = 60.0


class Heart:
    def __init__(
        self, url: str, claims: dict[int, Claim], lease: timedelta, on_lost: Callable[[set[Fence]], None]
    ) -> None:
        self.url, self.claims, self.lease, self.on_lost = url, claims, lease, on_lost
        self.pulse = time.monotonic()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.wake: asyncio.Event | None = None
        self.is_stopped = False
        self.thread = threading.Thread(target=lambda: asyncio.run(self.beat_on()), name="heart", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.is_stopped = True
        self.beat_now()
        self.thread.join()

    def beat_now(self) -> None:
        """Somebody may have taken a claim from us: find out at once."""
        if self.loop is not None and self.wake is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.wake.set)

    async def beat_on(self) -> None:
        self.loop, self.wake = asyncio.get_running_loop(), asyncio.Event()
        link, interval, beaten_at = Link(self.url, steady=True), self.lease.total_seconds() / 3, time.monotonic()
        while not self.is_stopped:
            if time.monotonic() - self.pulse < HUNG_AFTER_S:
                try:
                    async with asyncio.timeout(interval):
                        await self.beat(link)
                    beaten_at = time.monotonic()
                except Exception as error:  # noqa: BLE001 (whatever it was, the heart must not stop)
                    log.warning("heartbeat failed", error=repr(error))
                    if time.monotonic() - beaten_at > self.lease.total_seconds():
                        self.on_lost({claim.fence for claim in self.held()})  # by now they are free to be taken
            with suppress(TimeoutError):
                async with asyncio.timeout(interval):
                    await self.wake.wait()
            self.wake.clear()
        await link.close()

    async def beat(self, link: Link) -> None:
        """One statement a table. What does not come back is no longer ours."""
        for table, claims in by_table(self.held()).items():
            kept = await link.fetch(statement("heartbeat", table), *fences(claims), self.lease)
            if gone := lost(claims, kept):
                self.on_lost(gone)

    def held(self) -> list[Claim]:
        """A copy made in one piece: the event loop's thread goes on claiming and settling."""
        return list(self.claims.copy().values())
