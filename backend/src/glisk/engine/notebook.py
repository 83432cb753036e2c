"""What is written in the middle of the work: facts at once, progress of all claims together, now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from glisk.engine import store
from glisk.engine.claim import Claim, Fence, by_table, fences, lost
from glisk.engine.link import Link, persistently, shortest
from glisk.engine.statements import statement

EVERY_S = 0.5  # a percentage that a person watches need not be newer


class Notebook:
    """Every write is fenced. `on_lost` hears of the claims that are no longer ours. Several links, so that hundreds of claims
    that write at once wait for the disk together and not one after the other; each is opened when it is needed."""

    def __init__(
        self, links: Sequence[Link], worker: str, lease: timedelta, on_lost: Callable[[set[Fence]], None]
    ) -> None:
        self.links, self.worker, self.lease, self.on_lost = links, worker, lease, on_lost
        self.reached: dict[Claim, int] = {}
        self.wake = asyncio.Event()

    @property
    def link(self) -> Link:
        return shortest(self.links)

    async def write(self, claim: Claim, facts: Mapping[str, Any], event: Mapping[str, Any] | None = None) -> bool:
        terms = (claim.workflow.table, claim, facts, self.worker, event)
        written = await persistently(lambda: store.note(self.link.fetch, *terms), "note")
        if not written:
            self.on_lost({claim.fence})
        return written

    def progress(self, claim: Claim, percent: int) -> None:
        """The last one counts. Rows that cannot show any are left alone."""
        if "progress" in claim.workflow.table.facts:
            self.reached[claim] = min(100, max(0, int(percent)))
            self.wake.set()

    async def run(self) -> None:
        while True:
            await self.wake.wait()
            self.wake.clear()
            reached, self.reached = self.reached, {}
            await persistently(partial(self.flush, reached), "progress")
            await asyncio.sleep(EVERY_S)

    async def flush(self, reached: Mapping[Claim, int]) -> None:
        """It renews the leases too: who makes progress is alive."""
        for table, claims in by_table(reached).items():
            percents = [reached[claim] for claim in claims]
            kept = await self.link.fetch(statement("progress", table), *fences(claims), percents, self.lease)
            self.on_lost(lost(claims, kept))
