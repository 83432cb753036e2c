"""Reads new blocks at the head, each by its hash, and finds out when some were replaced."""

from __future__ import annotations

import time

import structlog

from glisk.chain import calls
from glisk.chain.book import Book
from glisk.chain.cursor import linked
from glisk.chain.mint import Header
from glisk.chain.pace import Pace
from glisk.chain.reading import union
from glisk.chain.rpc.call import NotThere
from glisk.chain.rpc.pool import Rpc
from glisk.chain.taking import Page
from glisk.errors import DeepReorg

log = structlog.get_logger()

AT_ONCE = 16  # blocks in one question
CUT_BACK = "The endpoints are far behind, or this is another chain than before: their newest block is"
SURE = 3  # times in a row that a chain must be seen to have been replaced below what was confirmed


class Detector:
    def __init__(self, book: Book, rpc: Rpc, pace: Pace) -> None:
        self.book, self.rpc, self.pace = book, rpc, pace
        self.head = book.at.head_no  # as it was shown last: the highest ever shown may have been a lie
        self.contradicted: list[float] = []  # when no common ancestor was found, since one was
        self.doubted: str | None = None
        self.behind_since: float | None = None  # the head has been below our tip, and not on our chain

    async def look(self) -> bool:
        """Whether there is more to read at once."""
        answer = await self.rpc.ask(calls.block(calls.LATEST))
        head: Header | None = answer.results[0]
        if head is None:
            return False
        self.rpc.saw_head(answer.endpoint, head.number)
        self.head = head.number
        if head.number <= self.book.at.tip_no:
            return await self.behind(head)
        self.behind_since = None
        if self.pace.is_far(head.number - self.book.at.tip_no):
            return await self.from_far()
        return await self.advance(head)

    async def behind(self, head: Header) -> bool:
        """The node may be: that is no evidence of anything. But if all are, for long, and contradict us, the chain was cut back."""
        at = self.book.at
        if head.number >= at.confirmed_no and self.book.hash_of(head.number) == head.hash:
            self.behind_since = None
            await self.book.was_looked_at()
            return False
        now = time.monotonic()
        self.behind_since = now if self.behind_since is None else self.behind_since
        if now - self.behind_since < self.pace.sure_after.total_seconds():
            return False
        if head.number >= at.confirmed_no:
            return await self.reconcile(head.number)
        await self.book.raise_alarm(
            f"{CUT_BACK} {head.number}, and block {at.confirmed_no} was confirmed before.", head.number
        )
        return False

    async def advance(self, head: Header) -> bool:
        tip = self.book.at.tip_no
        headers = await self.headers(tip + 1, min(head.number, tip + AT_ONCE), head)
        if not headers:
            return False
        if headers[0].parent_hash != self.book.at.tip_hash:
            return await self.reconcile()
        self.believe()
        chain = linked(headers, self.book.at.tip_hash)
        page = await self.page(chain)
        taken = await self.book.extend(chain, page, self.head)
        if (self.book.at.alarm or "").startswith(CUT_BACK):
            await self.book.raise_alarm(None, self.head)
        if taken.logs or taken.undecodable:
            log.info(
                "mints detected", block=chain[-1].number, tokens=taken.born, again=taken.again, unread=taken.undecodable
            )
        return chain[-1].number < head.number

    async def headers(self, first: int, last: int, head: Header) -> list[Header]:
        """As far as the node has them, all from one node."""
        if first == head.number:
            return [head]
        answer = await self.rpc.ask(*(calls.block(number) for number in range(first, last + 1)))
        found: list[Header] = []
        for number, header in enumerate(answer.results, first):
            if header is None or header.number != number:
                break
            found.append(header)
        return found

    async def page(self, headers: list[Header]) -> Page:
        """Nothing but what was asked for: a log of another block is no answer."""
        answer = await self.rpc.ask(*(calls.logs_of(self.book.contract, header.hash) for header in headers))
        for header, logs in zip(headers, answer.results, strict=True):
            if any(found.block_hash != header.hash for found in (*logs.mints, *logs.undecodable)):
                raise NotThere(f"{answer.endpoint} answered about another block than {header.number}")
        return union(Page(logs.mints, logs.undecodable) for logs in answer.results)

    async def from_far(self) -> bool:
        """Ranges are read instead; but blocks that we know may have been replaced in the meantime."""
        at = self.book.at
        if at.tip_no == at.confirmed_no:
            return False
        answer = await self.rpc.ask(calls.block(at.tip_no))
        header: Header | None = answer.results[0]
        if header is None or header.hash == at.tip_hash:
            return False
        return await self.reconcile()

    def believe(self) -> None:
        """What contradicted us was one node, and others do not."""
        self.contradicted.clear()

    async def reconcile(self, last: int | None = None) -> bool:
        """Back to the last block that both chains have, as one node shows it; from `last` on, if the other chain ends there."""
        at = self.book.at
        numbers = range(at.tip_no if last is None else last, at.confirmed_no - 1, -1)
        ours = {number: self.book.hash_of(number) for number in numbers}
        asked = [calls.block(number) for number in ours if number >= 0]
        answer = await self.rpc.ask(*asked, calls.block(calls.LATEST), other_than=self.doubted)
        *shown, head = [header for header in answer.results if header is not None] or [None]
        if len(shown) < len(asked) or head is None or self.book.at.tip_hash != at.tip_hash:
            return False
        if last is not None and head.number > last:
            return False  # this node's chain does not end there
        ancestor = next((header.number for header in shown if header.hash == ours[header.number]), None)
        if ancestor is None and at.confirmed_no >= 0:
            self.doubted = None if self.doubted else answer.endpoint  # another one is asked every other time
            return await self.not_found(answer.endpoint, shown[-1])
        self.believe()
        if ancestor == at.tip_no:
            self.pass_over(answer.endpoint)
            return False  # this node has our chain: another one was asked before
        back_to = -1 if ancestor is None else ancestor
        tokens = await self.book.roll_back(back_to)
        log.warning("blocks were replaced", back_to=back_to, depth=at.tip_no - back_to, tokens=tokens)
        return True

    def pass_over(self, endpoint: str) -> None:
        """Whoever contradicts what was confirmed, while another has our chain."""
        if self.doubted not in (None, endpoint):
            self.rpc.doubt(str(self.doubted), "it has other blocks than those that were confirmed")
        self.doubted = None

    async def not_found(self, endpoint: str, header: Header) -> bool:
        """Below what was confirmed. One node may be wrong, or syncing: only what is seen again and again is believed."""
        self.contradicted.append(now := time.monotonic())
        times, seconds = len(self.contradicted), now - self.contradicted[0]
        say = log.warning if times == 1 else log.debug
        say("a node has another block than the one that was confirmed", block=header.number, endpoint=endpoint)
        if times < SURE or seconds < self.pace.sure_after.total_seconds():
            return False
        at = self.book.at
        seen = f"Block {at.confirmed_no} was {at.confirmed_hash.hex()[:16]}… and is {header.hash.hex()[:16]}… now."
        error = DeepReorg(seen)
        await self.book.halt(f"{error} {error.fix}")
        raise error
