"""May we pay for another one? Asked in the transaction that opens the attempt, so that two at once cannot overspend."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Protocol

from glisk.drawing.subject import Asked
from glisk.engine import lanes, ledger
from glisk.engine.claim import Claim
from glisk.engine.decide import Hold, Verdict, Wait
from glisk.engine.ledger import Attempt, SeedTaken
from glisk.engine.link import persistently
from glisk.engine.store import Fetch

RAISE = "It goes on tomorrow; or raise GLISK_DAILY_BUDGET, start the workers anew, then:"
REST = timedelta(seconds=5)


class Spent(Exception):
    """The day's budget would be exceeded; another day begins in `rest`. `is_certain`: by what is spent already; else only if
    all that is ordered is drawn."""

    def __init__(self, spent: Decimal, budget: Decimal, rest: timedelta, *, is_certain: bool) -> None:
        super().__init__(f"${spent.normalize():f} of ${budget.normalize():f} are spent or ordered today")
        self.rest, self.is_certain = rest, is_certain

    def verdict(self, lane: str) -> Verdict:
        if not self.is_certain:
            return Wait(REST, f"{self}: waiting for what is ordered")
        return Hold(f"{self}: the day's budget. {RAISE} glisk lanes resume {lane}", self.rest)


class Paid(Protocol):
    """Whoever is paid: a painter, an editor."""

    name: str
    model: str


@dataclass(frozen=True, slots=True)
class Purse:
    """`estimate`: what one picture will probably cost; `budget`: what a day may cost. None: nobody knows, or no limit."""

    whom: Paid
    estimate: Decimal | None
    budget: Decimal | None

    async def open(self, claim: Claim, asked: Asked) -> Attempt:
        """A new attempt, or the one that is open. The seed is this order's alone: by it a lost one is found again. Raises SeedTaken
        if somebody wants the very seed that another order has."""
        while True:
            try:
                return await persistently(lambda: self.open_once(claim, asked), "open attempt")
            except SeedTaken:
                if asked.seed is not None:
                    raise

    async def open_once(self, claim: Claim, asked: Asked) -> Attempt:
        if self.budget is None:
            return await self.opened(claim.link.fetch, claim, asked)
        async with claim.link.transaction() as fetch:
            await lanes.lock(fetch, self.whom.name)
            spent, ordered, rest = await ledger.spent_today(fetch)
            attempt = await self.opened(fetch, claim, asked)
            left = self.budget - (self.estimate or 0)
            if not attempt.is_resumed and spent + ordered > left:
                raise Spent(spent + ordered, self.budget, rest, is_certain=spent > left)
            return attempt

    async def opened(self, fetch: Fetch, claim: Claim, asked: Asked) -> Attempt:
        return await ledger.open_attempt(
            *(fetch, claim.id, claim.status, claim.epoch),
            provider=self.whom.name,
            worker=claim.worker,
            model=self.whom.model,
            seed=secrets.randbits(31) if asked.seed is None else asked.seed,
            prompt=asked.prompt,
            prompt_source=asked.source,
            cost=self.estimate,
        )
