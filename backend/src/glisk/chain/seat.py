"""Who writes for a contract: one process at a time, the others stand by and take over when it is gone.

The seat is a lock that PostgreSQL frees when its holder's connection ends. It only keeps two from working in vain: that none of
them does harm is the epoch's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import structlog

from glisk.chain.mint import Contract
from glisk.chain.together import until_one_ends
from glisk.engine.link import Link, LinkLost

log = structlog.get_logger()

TRY = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_ours"
# A machine that vanished says no farewell: the server finds out within half a minute, and the seat is free.
NOTICE = "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)"
CHECK_EVERY_S = 5.0


class Seat:
    def __init__(self, link: Link) -> None:
        self.link = link

    async def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Works for as long as the seat is ours. Raises LinkLost when it is not any more."""
        await until_one_ends(work, self.watch())

    async def watch(self) -> None:
        """A link opens another connection in the place of a lost one; that would not have the lock."""
        ours = self.link.connection
        while self.link.connection is ours and not ours.is_closed():
            await asyncio.sleep(CHECK_EVERY_S)
            await self.link.fetch("SELECT 1")
        raise LinkLost("the connection that held the seat has ended")


@asynccontextmanager
async def seated(url: str, contract: Contract, look_every: timedelta) -> AsyncIterator[Seat]:
    """Waits for the seat as long as it takes."""
    link = Link(url)
    try:
        await sit_down(link, contract, look_every.total_seconds())
        yield Seat(link)
    finally:
        await link.close()


async def sit_down(link: Link, contract: Contract, look_every_s: float) -> None:
    has_told = False
    while True:
        await link.fetch(NOTICE)
        if (await link.fetch(TRY, f"glisk listener {contract}"))[0]["is_ours"]:
            return
        if not has_told:
            log.info("standing by: another listener follows it", contract=str(contract))
        has_told = True
        await asyncio.sleep(look_every_s)
