"""What becomes of the attempt and of the row when no picture came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from glisk.engine import ledger
from glisk.engine.claim import Claim
from glisk.engine.decide import Closing, Fail, Hold, Outcome, Retry, Verdict, Wait
from glisk.engine.ledger import Attempt
from glisk.engine.link import persistently
from glisk.errors import (
    BadOrder,
    NotAllowed,
    NotArrived,
    OrderGone,
    ProviderError,
    ProviderFailed,
    RateLimited,
    Refused,
    Uncertain,
)
from glisk.settings import Settings

DOWNLOAD_REST = timedelta(seconds=10)
REMEDIES = {
    "replicate": "Mend that (GLISK_REPLICATE_API_TOKEN, the account's credit)",
    "sd_webui": "Set GLISK_SD_WEBUI_AUTH",
}


@dataclass(frozen=True, slots=True)
class Verdicts:
    settings: Settings

    async def on(self, claim: Claim, attempt: Attempt, error: ProviderError) -> Verdict:
        closes = closing(attempt, error)
        match error:
            case RateLimited():
                return await self.limited(claim, error, closes)
            case NotAllowed():
                return self.not_allowed(attempt, error, closes)
            case ProviderFailed(category=category):
                return Retry(error.said, category, closes=closes)
            case NotArrived():  # it is drawn and there, for an hour: waiting for it costs nothing
                return Wait(DOWNLOAD_REST, error.said, closes=closes)
            case Uncertain() | OrderGone():
                return Retry(error.said, error.provider_code or "network", closes=closes)
            case Refused() | BadOrder():
                return Fail(error.said, closes=closes)
            case _:
                raise error

    async def limited(self, claim: Claim, error: RateLimited, closes: Closing | None) -> Verdict:
        """It uses no attempt, unless this row has heard nothing else for too long."""
        waited = await persistently(lambda: ledger.limited_for(claim.link.fetch, claim.id, claim.active), "ask ledger")
        if waited.total_seconds() >= self.settings.max_wait:
            return Retry(error.said, error.category, after=error.after, closes=closes)
        return Wait(error.after, error.said, closes_lane=True, closes=closes)

    def not_allowed(self, attempt: Attempt, error: NotAllowed, closes: Closing | None) -> Verdict:
        if self.settings.on_auth_error == "fail":
            return Fail(error.said, closes=closes)
        remedy = REMEDIES.get(attempt.provider, "Mend it")
        return Hold(f"{error.said} {remedy}, then: glisk lanes resume {attempt.provider}", closes=closes)


def closing(attempt: Attempt, error: ProviderError) -> Closing | None:
    """An order that may stand stays open."""
    if error.is_open:
        return None
    outcome: Outcome = "refused" if isinstance(error, Refused) else "failed"
    return Closing(attempt.id, outcome, error.cost or Decimal(0), error.provider_code, error.said)
