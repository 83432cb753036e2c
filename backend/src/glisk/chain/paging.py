"""Reads many blocks: several ranges at once, handed on in order, each as wide as the endpoints bear."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

from glisk.chain.mint import Contract
from glisk.chain.reading import Read, joined, read
from glisk.chain.rpc.call import RangeTooWide
from glisk.chain.rpc.pool import Rpc
from glisk.chain.rpc.ranges import Span

MANY = 10_000  # logs in one answer, or tokens


class Reader:
    def __init__(self, rpc: Rpc, contract: Contract, at_once: int, *, depth: int) -> None:
        self.rpc, self.contract, self.at_once, self.depth = rpc, contract, at_once, depth
        self.span = Span()

    async def reads(self, first: int, last: int, parent: bytes | None = None) -> AsyncGenerator[Read, None]:
        """With `parent`, the block before the first must have that hash. So much is in memory as is fetched at once."""
        flying: deque[asyncio.Task[Read]] = deque()
        at = first
        try:
            while flying or at <= last:
                while at <= last and len(flying) < self.at_once:
                    end = min(last, at + self.span.next(self.rpc.range_cap()) - 1)
                    flying.append(asyncio.create_task(self.fetched(at, end, parent if at == first else None)))
                    at = end + 1
                yield await flying.popleft()
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)

    async def fetched(self, first: int, last: int, parent: bytes | None) -> Read:
        """In halves where that is too much at once."""
        width = last - first + 1
        try:
            found = await read(self.rpc, self.contract, first, last, depth=self.depth, parent=parent)
        except RangeTooWide as trouble:
            self.span = self.span.after(trouble, width)
            middle = first + width // 2 - 1
            lower = await self.fetched(first, middle, parent)
            return joined([lower, await self.fetched(middle + 1, last, None)])
        self.span = self.after(found, width)
        return found

    def after(self, found: Read, width: int) -> Span:
        """Endpoints that set no limit have one here: an answer is held in memory, and written in one transaction."""
        weight = max(found.seen, sum(mint.quantity for mint in found.page.mints))
        if weight <= MANY or width == 1:
            return self.span.after_success(width)
        return self.span.after(RangeTooWide("many at once", max(1, width * MANY // weight)), width)
