"""May we pay for another one? Asked in the transaction that opens the attempt, so that two at once cannot overspend."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from glisk.drawing.subject import Asked
from glisk.engine import lanes, ledger
from glisk.engine.claim import Claim
from glisk.engine.ledger import Attempt, SeedTaken
from glisk.engine.link import persistently
from glisk.engine.store import Fetch
from glisk.providers.port import Painter


class Spent(Exception):
    """The day's budget would be exceeded; another day begins in `rest`. `is_certain`: by what is spent already; else only if
    all that is ordered is drawn."""

    def __init__(self, spent: Decimal, budget: Decimal, rest: timedelta, *, is_certain: bool) -> None:
        super().__init__(f"${spent.normalize():f} of ${budget.normalize():f} are spent or ordered today")
        self.rest, self.is_certain = rest, is_certain


@dataclass(frozen=True, slots=True)
class Purse:
    """`estimate`: what one picture will probably cost; `budget`: what a day may cost. None: nobody knows, or no limit."""

    painter: Painter
    estimate: Decimal | None
    budget: Decimal | None

    async def open(self, claim: Claim, asked: Asked) -> Attempt:
        """A new attempt, or the one that is open. The seed is ours alone: by it a lost order is found again."""
        while True:
            try:
                return await persistently(lambda: self.open_once(claim, asked), "open attempt")
            except SeedTaken:
                continue

    async def open_once(self, claim: Claim, asked: Asked) -> Attempt:
        if self.budget is None:
            return await self.opened(claim.link.fetch, claim, asked)
        async with claim.link.transaction() as fetch:
            await lanes.lock(fetch, self.painter.name)
            spent, ordered, rest = await ledger.spent_today(fetch)
            attempt = await self.opened(fetch, claim, asked)
            left = self.budget - (self.estimate or 0)
            if not attempt.is_resumed and spent + ordered > left:
                raise Spent(spent + ordered, self.budget, rest, is_certain=spent > left)
            return attempt

    async def opened(self, fetch: Fetch, claim: Claim, asked: Asked) -> Attempt:
        return await ledger.open_attempt(
            *(fetch, claim.id, claim.active, claim.epoch),
            provider=self.painter.name,
            worker=claim.worker,
            model=self.painter.model,
            seed=secrets.randbits(31),
            prompt=asked.prompt,
            prompt_source=asked.source,
            cost=self.estimate,
        )
