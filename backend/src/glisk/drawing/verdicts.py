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
    OutcomeUnknown,
    ProviderError,
    ProviderFailed,
    RateLimited,
    Refused,
    StorageError,
    StorageUnusable,
    Uncertain,
)
from glisk.settings import Settings

DOWNLOAD_REST = STORAGE_REST = timedelta(seconds=10)
REMEDIES = {
    "llm": "Mend that (GLISK_LLM_API_KEY, GLISK_LLM_MODEL, GLISK_LLM_URL, the account's credit)",
    "openai": "Mend that (GLISK_OPENAI_API_KEY, GLISK_OPENAI_IMAGE_MODEL, the account's credit and verification)",
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
            case Refused() | BadOrder() | OutcomeUnknown():
                return Fail(error.said, closes=closes)
            case _:
                raise error

    async def limited(self, claim: Claim, error: RateLimited, closes: Closing | None) -> Verdict:
        """It uses no attempt, unless this row has heard nothing else for too long."""
        waited = await persistently(lambda: ledger.limited_for(claim.link.fetch, claim.id, claim.status), "ask ledger")
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
    is_unknown = isinstance(error, OutcomeUnknown)  # then it counts as paid, with what it was expected to cost
    outcome: Outcome = "unknown" if is_unknown else "refused" if isinstance(error, Refused) else "failed"
    cost = None if is_unknown else error.cost or Decimal(0)
    terms = (attempt.id, outcome, cost, error.provider_code, error.said)
    return Closing(*terms, details={"code": error.code})  # ours, by which people group what failed


def on_storage(error: StorageError, lane: str) -> Verdict:
    """Of a storage that must be mended by a person; or of one that may come back by itself."""
    if isinstance(error, StorageUnusable):
        return Hold(f"{error} {error.fix} Then: glisk lanes resume {lane}")
    return Wait(STORAGE_REST, str(error))
