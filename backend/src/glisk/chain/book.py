"""What is written down about one contract by whoever has its seat. Rows, blocks and cursor move in one transaction each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Any

from glisk.chain import cursor, reattaching
from glisk.chain.cursor import Cursor
from glisk.chain.mint import Contract, Header, Mint, Undecodable
from glisk.chain.reading import Read
from glisk.chain.statements import statement
from glisk.chain.taking import ACTOR, Page, Taken, take
from glisk.engine.link import Link
from glisk.engine.store import Fetch

SAY_EVERY_S = 15.0


class Outdated(Exception):
    """What was read does not follow on what is written down by now: read again."""


class Book:
    def __init__(self, link: Link, at: Cursor, hot: dict[int, Header], mints: Iterable[Mint]) -> None:
        self.link, self.at, self.hot = link, at, hot
        self.mints = list(mints)  # of the hot blocks
        self.rollbacks = 0
        self.said_at = time.monotonic()
        self.lock = asyncio.Lock()

    @classmethod
    async def opened(cls, link: Link, contract: Contract) -> Book | None:
        """Whoever had it before writes no more. None: nothing was ever written."""
        async with link.transaction() as fetch:
            at = await cursor.sit_down(fetch, contract)
            if at is None:
                return None
            return cls(link, at, await cursor.hot_blocks(fetch, contract), await known(fetch, at))

    @property
    def contract(self) -> Contract:
        return self.at.contract

    def hash_of(self, number: int) -> bytes:
        return self.at.confirmed_hash if number == self.at.confirmed_no else self.hot[number].hash

    async def extend(self, headers: Sequence[Header], page: Page, head: int) -> Taken:
        """Blocks that were read for the first time, on top of the tip."""
        async with self.lock:
            if headers[0].parent_hash != self.at.tip_hash:
                raise Outdated(f"block {headers[0].number} does not follow on block {self.at.tip_no}")
            to = self.at.changed(tip_no=headers[-1].number, tip_hash=headers[-1].hash, head_no=head)
            async with self.link.transaction() as fetch:
                await cursor.move(fetch, to)
                await cursor.heat(fetch, self.contract, headers)
                taken = await take(fetch, self.contract, page)
            self.at, self.mints = to, self.mints + page.mints
            self.hot |= {header.number: header for header in headers}
            return taken

    async def confirm(self, found: Read, page: Page, next_token_id: int | None, head: int, alarm: str | None) -> Taken:
        """Blocks that were read for the second time, or by range for the first. What left the chain there is gone for good."""
        async with self.lock:
            if found.first != self.at.confirmed_no + 1 or self.contradicts(found, page):
                raise Outdated(f"what was read up to block {found.last.number} is not what is known of it")
            to = self.confirmed(found.last).changed(
                next_token_id=next_token_id,
                safe_no=found.last.number if found.safe is None else found.safe,
                head_no=head,
                alarm=alarm or self.at.alarm,
            )
            async with self.link.transaction() as fetch:
                await cursor.move(fetch, to)
                taken = await take(fetch, self.contract, page)
                await self.settle(fetch, to)
            self.forget(to)
            return taken

    def confirmed(self, last: Header) -> Cursor:
        moved = self.at.changed(confirmed_no=last.number, confirmed_hash=last.hash)
        return moved if self.at.tip_no >= last.number else moved.changed(tip_no=last.number, tip_hash=last.hash)

    def contradicts(self, found: Read, page: Page) -> bool:
        """Of a block that we know it has another hash; or it goes beyond those we know, and passes some by on its way."""
        if self.hot and found.last.number > self.at.tip_no:
            return True
        logs: tuple[Mint | Undecodable, ...] = (*page.mints, *page.undecodable)
        hashes = {log.block_number: log.block_hash for log in logs}
        hashes[found.last.number] = found.last.hash
        return any(number in self.hot and self.hot[number].hash != hash for number, hash in hashes.items())

    async def settle(self, fetch: Fetch, to: Cursor) -> None:
        if self.hot:
            await cursor.cool(fetch, to)
        await reattaching.orphan(fetch, self.contract, self.at.confirmed_no + 1, to.confirmed_no, ACTOR)

    async def roll_back(self, ancestor: int) -> int:
        """The blocks above it were replaced. How many tokens were minted in them."""
        async with self.lock:
            if ancestor < self.at.confirmed_no:
                raise Outdated(f"block {self.at.confirmed_no} was confirmed in the meantime")
            depth = self.at.tip_no - ancestor
            to = self.at.changed(tip_no=ancestor, tip_hash=self.hash_of(ancestor))
            async with self.link.transaction() as fetch:
                await cursor.move(fetch, to)
                await cursor.cool(fetch, to)
                (gone,) = await fetch(statement("leave"), self.contract.chain_id, self.contract.address, ancestor)
                told = {"ancestor": ancestor, "depth": depth, "tip": self.at.tip_no, "orphaned": gone["tokens"]}
                await cursor.tell(fetch, "reorg", ACTOR, self.contract, **told)
            self.forget(to)
            self.rollbacks += 1
            return int(gone["tokens"])

    def forget(self, to: Cursor) -> None:
        self.at = to
        self.hot = {number: header for number, header in self.hot.items() if to.confirmed_no < number <= to.tip_no}
        self.mints = [mint for mint in self.mints if to.confirmed_no < mint.block_number <= to.tip_no]

    async def was_looked_at(self) -> None:
        """There was nothing new: that is said now and then, so that nobody takes us for gone."""
        if time.monotonic() - self.said_at >= SAY_EVERY_S:
            self.said_at = time.monotonic()
            await self.link.fetch(
                statement("was_looked_at"), self.contract.chain_id, self.contract.address, self.at.epoch
            )

    async def halt(self, reason: str) -> None:
        """Nothing more is written until a person has looked."""
        await self.say("halted", reason, halted=reason)

    async def raise_alarm(self, reason: str | None, head: int | None = None) -> None:
        """Loud while it lasts; None: it is over."""
        if reason != self.at.alarm:
            await self.say("alarm", reason or "over", alarm=reason, head_no=self.at.head_no if head is None else head)

    async def say(self, what: str, reason: str, **fields: Any) -> None:
        async with self.lock:
            to = self.at.changed(**fields)
            async with self.link.transaction() as fetch:
                await cursor.move(fetch, to)
                await cursor.tell(fetch, what, ACTOR, self.contract, reason=reason)
            self.at = to


async def known(fetch: Fetch, at: Cursor) -> list[Mint]:
    rows = await fetch(statement("known_mints"), at.contract.chain_id, at.contract.address, at.confirmed_no)
    return [Mint(**{**row, "first_token_id": int(row["first_token_id"])}) for row in rows]
