"""Reads blocks by range: those that were detected, a second time; those that nobody was there for, in parallel and in order.

An empty answer at the head is no evidence of absence, so a block counts only after this look. Where the collection numbers its
tokens, the numbers must be whole as well: what is missing is asked for again, elsewhere and in smaller pieces.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import structlog

from glisk.chain.book import Book, Outdated
from glisk.chain.merging import merged
from glisk.chain.mint import BATCH_MINTED, TRANSFER, Mint
from glisk.chain.pace import Pace
from glisk.chain.paging import Reader
from glisk.chain.reading import Read, read_in_parts, union
from glisk.chain.rpc.call import NotThere
from glisk.chain.rpc.pool import Rpc
from glisk.chain.sequence import is_whole, reaches
from glisk.chain.taking import Page
from glisk.errors import MintsMissing

log = structlog.get_logger()

TRIES = 6  # to find a mint that the contract has counted and no log tells of
DOUBTS = 3  # times that a page is read again in which a log seems to be missing, though no token is
UNTOLD = 10  # times in a row that no node tells which token comes next, until that is believed
REMEMBERED = 64  # blocks of which every node still has the state


class Confirmer:
    def __init__(self, book: Book, rpc: Rpc, pace: Pace) -> None:
        self.book, self.rpc, self.pace = book, rpc, pace
        self.reader = Reader(rpc, book.contract, pace.at_once, depth=pace.confirmations)
        self.untold = 0
        self.has_batches = any(mint.kind == BATCH_MINTED for mint in book.mints)

    async def look(self, head: int) -> bool:
        """Whether something was confirmed."""
        last, at = self.last(head), self.book.at
        if last <= at.confirmed_no:
            return False
        parent, rollbacks = at.confirmed_hash if at.tip_no == at.confirmed_no else None, self.book.rollbacks
        async with aclosing(self.reader.reads(at.confirmed_no + 1, last, parent)) as reads:
            async for found in reads:
                await self.take(found, head, rollbacks)
        return True

    def last(self, head: int) -> int:
        """Up to the tip where there is one: what was detected is compared before anything is added to it. At the head not for
        every block, since each time costs a question."""
        at = self.book.at
        if at.tip_no == at.confirmed_no:
            return head - self.pace.confirmations
        last = min(head - self.pace.confirmations, at.tip_no)
        enough = 1 if self.pace.is_far(head - at.tip_no) else max(1, self.pace.confirmations // 2)
        return last if last - at.confirmed_no >= enough else at.confirmed_no

    async def take(self, found: Read, head: int, rollbacks: int) -> None:
        at = self.book.at
        if self.book.contradicts(found, found.page):
            raise Outdated(f"block {found.last.number} is another one by now")
        if at.next_token_id is None:
            page, reached, alarm = found.page, None, None
        else:
            page, reached, alarm = await self.whole(found, at.next_token_id)
        if self.book.rollbacks != rollbacks:  # and what was known of them went into the count
            raise Outdated("blocks were replaced while these were read")
        taken = await self.book.confirm(found, page, reached, head, alarm)
        if taken.born or taken.again or taken.undecodable:
            log.info(
                "blocks read by range",
                first=found.first,
                last=found.last.number,
                tokens=taken.born,
                again=taken.again,
                unread=taken.undecodable,
            )

    async def whole(self, found: Read, first: int) -> tuple[Page, int, str | None]:
        """The page with every token the contract has counted, and which one comes next. If that cannot be had: an alarm."""
        known = [mint for mint in self.book.mints if mint.block_number <= found.last.number]
        page, expected = found.page, self.expected(found)
        for attempt in range(TRIES):
            # What is read now counts, where it says something else. A page alone is merged already.
            mints = merged([*page.mints, *known]) if known else page.mints
            if is_whole(first, mints, expected) and (attempt >= DOUBTS or not self.is_doubtful(mints)):
                reached = reaches(first, mints) if expected is None else expected
                return Page(mints, page.undecodable), reached, None
            again = await self.again(found, attempt)
            page, expected = union([page, again.page]), self.expected(again)
        missing = reaches(first, mints)
        error = MintsMissing(f"Token {missing} and perhaps more, in blocks {found.first} to {found.last.number}.")
        log.error(
            "mints are missing", first_missing=missing, expected=expected, blocks=[found.first, found.last.number]
        )
        return page, max(expected or 0, *(mint.first_token_id + mint.quantity for mint in mints), first), str(error)

    def expected(self, found: Read) -> int | None:
        """What the contract says comes next. A node forgets that of old blocks; one that does not know it of a new one is behind, unless
        it is so again and again: then the contract tells no more."""
        if found.next_token_id is not None or found.head - found.last.number >= REMEMBERED:
            self.untold = 0
            return found.next_token_id
        self.untold += 1
        if self.untold <= UNTOLD:
            raise NotThere(f"{found.endpoint} does not tell which token comes after block {found.last.number}")
        if self.untold == UNTOLD + 1:
            log.warning("the contract no longer tells which token comes next: only gaps can be noticed")
        return None

    def is_doubtful(self, mints: list[Mint]) -> bool:
        """A transfer without a batch, in a collection that has batches: was the log lost that names its author?"""
        kinds = {mint.kind for mint in mints}
        self.has_batches |= BATCH_MINTED in kinds
        return self.has_batches and TRANSFER in kinds

    async def again(self, found: Read, attempt: int) -> Read:
        """From another endpoint if there is one, each time in smaller pieces."""
        log.warning("a mint is missing, reading again", first=found.first, last=found.last.number, attempt=attempt + 1)
        if attempt:
            await asyncio.sleep(min(attempt * self.pace.poll.total_seconds(), 5.0))
        other_than, depth = found.endpoint if attempt % 2 == 0 else None, self.pace.confirmations
        blocks = (found.first, found.last.number)
        again = await read_in_parts(
            self.rpc, self.book.contract, *blocks, 4**attempt, depth=depth, other_than=other_than
        )
        if again.last.hash != found.last.hash:
            raise Outdated(f"block {found.last.number} is another one on {again.endpoint}")
        return again
