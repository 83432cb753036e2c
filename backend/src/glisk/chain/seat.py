"""Who writes for a contract: one process at a time, the others stand by and take over when it is gone or hangs.

The seat is a lock that PostgreSQL frees when its holder's connection ends. It only keeps two from working in vain: that none of
them does harm is the epoch's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog

from glisk.chain.mint import Contract
from glisk.chain.pace import Pace
from glisk.chain.statements import statement
from glisk.chain.together import until_one_ends
from glisk.engine.link import Link, LinkLost

log = structlog.get_logger()


class Seat:
    def __init__(self, url: str, contract: Contract, pace: Pace) -> None:
        self.link, self.name, self.pace = Link(url), name_of(contract), pace

    async def taken(self) -> None:
        """Waits as long as it takes."""
        has_told = False
        while not (await self.link.fetch(statement("take_seat"), self.name))[0]["is_ours"]:
            if not has_told:
                log.info("standing by: another listener follows it", seat=self.name)
            has_told = True
            if await self.link.fetch(statement("put_out"), self.name, self.pace.silence):
                log.warning("took the seat of a listener that was silent", seat=self.name)
            await asyncio.sleep(self.pace.standby.total_seconds())
        await self.link.fetch(statement("beat"), self.name)

    async def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Works for as long as the seat is ours. Raises LinkLost when it is not any more."""
        await until_one_ends(work, self.beats())

    async def beats(self) -> None:
        """A link opens another connection in the place of a lost one; that would not have the lock."""
        ours = self.link.connection
        while self.link.connection is ours and not ours.is_closed():
            await asyncio.sleep(self.pace.silence.total_seconds() / 6)
            await self.link.fetch(statement("beat"), self.name)
        raise LinkLost("the connection that held the seat has ended")


def name_of(contract: Contract) -> str:
    """Of the seat, and of the connection that writes for who has it. PostgreSQL keeps 63 letters."""
    return f"glisk {contract}"[:63]


@asynccontextmanager
async def seated(url: str, contract: Contract, pace: Pace) -> AsyncIterator[Seat]:
    seat = Seat(url, contract, pace)
    try:
        await seat.taken()
        yield seat
    finally:
        await seat.link.close()
