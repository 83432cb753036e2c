"""Follows one contract for ever: stands by until the seat is free, then detects, confirms and audits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from glisk.chain import auditing, starting
from glisk.chain.book import Book, Outdated
from glisk.chain.confirming import Confirmer
from glisk.chain.cursor import Unseated
from glisk.chain.detecting import Detector
from glisk.chain.mint import Contract
from glisk.chain.pace import Pace
from glisk.chain.reading import Uprooted
from glisk.chain.rpc.call import RpcTrouble
from glisk.chain.rpc.pool import Rpc
from glisk.chain.seat import name_of, seated
from glisk.chain.statements import statement
from glisk.chain.together import until_one_ends
from glisk.engine.link import Link, LinkLost
from glisk.errors import DeepReorg, RpcUnreachable

log = structlog.get_logger()

LONG_S = 30.0


class Listener:
    def __init__(self, url: str, rpc: Rpc, contract: Contract, pace: Pace, *, start: int | None = None) -> None:
        self.url, self.rpc, self.contract, self.pace, self.start = url, rpc, contract, pace, start
        self.woken = asyncio.Event()
        self.in_vain: dict[str, float] = {}  # since when something was tried without success

    def wake(self) -> None:
        """There may be a new block."""
        self.woken.set()

    async def run(self) -> None:
        """Until it is cancelled. What ends it is only what a person must mend first."""
        while True:
            try:
                async with seated(self.url, self.contract, self.pace) as seat:
                    await seat.keep(self.follow())
            except (LinkLost, Unseated) as error:
                log.warning("seat lost", contract=str(self.contract), error=str(error))
                await asyncio.sleep(self.pace.standby.total_seconds())

    async def follow(self) -> None:
        link = Link(self.url, name=name_of(self.contract))
        try:
            book = await self.opened(link)
            log.info("following", contract=str(self.contract), tip=book.at.tip_no, confirmed=book.at.confirmed_no)
            with suppress(DeepReorg):
                if not book.at.halted:
                    await self.follow_with(book)
            log.error("halted", contract=str(self.contract), reason=book.at.halted)
            await self.until_unseated(book)
        finally:
            await link.close()

    async def opened(self, link: Link) -> Book:
        """The first time, once the chain has told where to begin."""
        while True:
            if book := await Book.opened(link, self.contract):
                return book
            await self.patiently("begin", lambda: starting.begin(link, self.rpc, self.contract, self.start))
            await self.rest()

    async def follow_with(self, book: Book) -> None:
        detector, confirmer = Detector(book, self.rpc, self.pace), Confirmer(book, self.rpc, self.pace)
        seen = asyncio.Event()
        await until_one_ends(
            self.detect(detector, seen),
            self.confirm(confirmer, detector, seen),
            self.audit(book),
        )

    async def detect(self, detector: Detector, seen: asyncio.Event) -> None:
        while True:
            more = await self.patiently("detect", detector.look)
            seen.set()
            if not more:
                await self.rest()

    async def confirm(self, confirmer: Confirmer, detector: Detector, seen: asyncio.Event) -> None:
        """On its own, so that trouble at the head never holds it up."""
        while True:
            await seen.wait()
            seen.clear()
            try:
                if await self.patiently("confirm", lambda: confirmer.look(detector.head)):
                    detector.believe()
            except Uprooted:
                await self.patiently("reconcile", detector.reconcile)

    async def audit(self, book: Book) -> None:
        while True:
            await asyncio.sleep(self.pace.audit_every.total_seconds())
            await self.patiently("audit", lambda: auditing.look(book, self.rpc))

    async def patiently(self, what: str, action: Callable[[], Awaitable[object]]) -> bool:
        """Whether it said so. What a node does not tell now it tells later; if that takes long, somebody should know."""
        try:
            found = bool(await action())
        except Uprooted:
            raise
        except (RpcTrouble, RpcUnreachable, Outdated) as trouble:
            self.put_up_with(what, trouble)
            return False
        self.in_vain.pop(what, None)
        return found

    def put_up_with(self, what: str, trouble: Exception) -> None:
        now = time.monotonic()
        is_long = now - self.in_vain.setdefault(what, now) > LONG_S or isinstance(trouble, RpcUnreachable)
        if is_long:
            self.in_vain[what] = now  # it is said once in a while
        say = log.warning if is_long else log.debug
        say("not yet", trying=what, contract=str(self.contract), trouble=str(trouble))

    async def rest(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.pace.poll.total_seconds()):
                await self.woken.wait()
        self.woken.clear()

    async def until_unseated(self, book: Book) -> None:
        """A person who has repaired the table moves the epoch."""
        while True:
            await asyncio.sleep(self.pace.standby.total_seconds())
            rows = await book.link.fetch(statement("read_cursor"), self.contract.chain_id, self.contract.address)
            if not rows or rows[0]["epoch"] != book.at.epoch:
                raise Unseated(f"{self.contract} was repaired")
