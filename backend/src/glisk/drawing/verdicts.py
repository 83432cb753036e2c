"""What becomes of the attempt and of the row when no picture came."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import structlog

from glisk.engine import ledger
from glisk.engine.claim import Claim
from glisk.engine.decide import Fail, Hold, Retry, Verdict, Wait
from glisk.engine.ledger import Attempt, Outcome
from glisk.engine.link import persistently
from glisk.errors import BadOrder, NotAllowed, ProviderError, ProviderFailed, RateLimited, Refused, Uncertain
from glisk.settings import Settings

log = structlog.get_logger()
REMEDIES = {"replicate": "Set GLISK_REPLICATE_API_TOKEN, or pay the bill", "sd_webui": "Set GLISK_SD_WEBUI_AUTH"}


@dataclass(frozen=True, slots=True)
class Verdicts:
    settings: Settings

    async def on(self, claim: Claim, attempt: Attempt, error: ProviderError) -> Verdict:
        match error:
            case RateLimited():
                await self.close(claim, attempt, error)
                return await self.limited(claim, error)
            case NotAllowed():
                await self.close(claim, attempt, error)
                return self.not_allowed(attempt, error)
            case ProviderFailed(category=category):
                return await self.counted(claim, attempt, error, category)
            case Uncertain():
                return Retry(error.said, error.provider_code or "network")
            case Refused() | BadOrder():
                outcome: Outcome = "refused" if isinstance(error, Refused) else "failed"
                await self.close(claim, attempt, error, outcome)
                return Fail(error.said)
            case _:
                raise error

    async def limited(self, claim: Claim, error: RateLimited) -> Verdict:
        """It uses no attempt, unless this row has heard nothing else for too long."""
        waited = await persistently(lambda: ledger.limited_for(claim.link.fetch, claim.id, claim.active), "ask ledger")
        if waited.total_seconds() >= self.settings.max_wait:
            return Retry(error.said, "rate limit", after=error.after)
        return Wait(error.after, error.said, closes_lane=True)

    def not_allowed(self, attempt: Attempt, error: NotAllowed) -> Verdict:
        if self.settings.on_auth_error == "fail":
            return Fail(error.said)
        remedy = REMEDIES.get(attempt.provider, "Mend it")
        return Hold(f"{error.said} {remedy}, then: glisk lanes resume {attempt.provider}")

    async def counted(self, claim: Claim, attempt: Attempt, error: ProviderError, category: str) -> Verdict:
        """Counted before it is closed: whoever dies in between has used the attempt all the same."""
        budget = claim.workflow.steps[claim.waiting].attempts
        if budget and not error.is_open:
            await claim.note(**{budget: claim.row[budget] + 1})
        await self.close(claim, attempt, error)
        return Retry(error.said, category)

    async def close(self, claim: Claim, attempt: Attempt, error: ProviderError, outcome: Outcome = "failed") -> None:
        """An order that may stand stays open."""
        if error.is_open:
            return
        cost, code = error.cost or Decimal(0), error.provider_code

        async def record() -> bool:
            return await ledger.record(
                claim.link.fetch, attempt.id, outcome, cost=cost, error_code=code, error=error.said
            )

        await persistently(record, "close attempt")
