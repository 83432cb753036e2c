"""What twice was at work when a process died may be what killed it, or may only have stood beside it. It works alone, so that it
takes nobody along and nobody takes it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol

from glisk.engine.link import LinkLost
from glisk.engine.lookout import Lookout


class Host(Protocol):
    """What it asks of its worker."""

    stopping: asyncio.Event

    async def idle_or_stopping(self) -> None: ...

    async def claim_suspect(self) -> bool: ...

    def notified(self, workflow: str) -> None: ...


class Suspects:
    """`is_alone`: nothing else is claimed meanwhile. Stopping ends it, though not a claim that is on its way."""

    def __init__(self, worker: Host, lookout: Lookout, look_every: float) -> None:
        self.worker, self.lookout, self.look_every = worker, lookout, look_every
        self.is_alone = False

    async def run(self) -> None:
        while not self.worker.stopping.is_set():
            with suppress(LinkLost):
                if await self.lookout.any_suspect():
                    await self.try_alone()
            with suppress(TimeoutError):
                async with asyncio.timeout(self.look_every):
                    await self.worker.stopping.wait()

    async def try_alone(self) -> None:
        self.is_alone = True
        try:
            await self.worker.idle_or_stopping()
            while not self.worker.stopping.is_set() and await self.worker.claim_suspect():
                await self.worker.idle_or_stopping()
        finally:
            self.is_alone = False
            self.worker.notified("")
