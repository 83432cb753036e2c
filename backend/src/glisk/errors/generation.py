"""Something about drawing an image."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from glisk.errors.base import GliskError


class GenerationError(GliskError):
    """Something about drawing an image."""


class ProviderError(GenerationError):
    """Whoever draws did not. `said` is fit for the row, `provider_code` is as the provider wrote it, and `cost` is what it
    took all the same. `is_open`: the order may stand, so it must be looked at again before another is placed."""

    is_open: bool = False

    def __init__(self, said: str, *, provider_code: str | None = None, cost: Decimal | None = None) -> None:
        super().__init__(said)
        self.said, self.provider_code, self.cost = said, provider_code, cost


class BadImageUrl(GenerationError):
    code = "GLK-301"
    summary = "An image's address must be an http or https URL."
    remedy = "Look at what the provider returned; the token can be retried."


class Refused(ProviderError):
    code = "GLK-302"
    summary = "The provider refused the prompt: it is against its content policy."
    remedy = "Nothing to do while the fallback prompt is drawn instead. Where that was refused too: set another GLISK_FALLBACK_PROMPT, or let the author publish another prompt; then retry."


class ProviderFailed(ProviderError):
    """It may pass: a network that broke, a server that stumbled, an image that came out wrong."""

    code = "GLK-303"
    summary = "The provider failed in a way that may pass."
    remedy = "Nothing to do: it is tried again, three times in all. See the provider's status page if it lasts."

    def __init__(
        self, said: str, *, category: str = "transient", provider_code: str | None = None, cost: Decimal | None = None
    ) -> None:
        super().__init__(said, provider_code=provider_code, cost=cost)
        self.category = category  # as a person would call it: network, timeout, …


class RateLimited(ProviderError):
    code = "GLK-304"
    summary = "The provider asks for a pause."
    remedy = "Nothing to do: its lane is closed for that long, and no attempt is used."

    def __init__(
        self, said: str, *, after: timedelta, category: str = "rate limit", provider_code: str | None = None
    ) -> None:
        super().__init__(said, provider_code=provider_code)
        self.after, self.category = after, category


class NotAllowed(ProviderError):
    code = "GLK-305"
    summary = "The provider does not let us in: a wrong token, no credit, or no permission."
    remedy = "Set its token, or pay its bill; then: glisk lanes resume LANE. Nothing has failed meanwhile."


class BadOrder(ProviderError):
    code = "GLK-306"
    summary = "The provider cannot use what it was asked for."
    remedy = "Correct the model or its inputs in the settings, then retry what failed."


class Uncertain(ProviderError):
    code = "GLK-307"
    is_open = True
    summary = "The provider was asked and did not answer: it may have taken the order."
    remedy = "Nothing to do: before anything is ordered again, the provider is asked what it has."


class OrderGone(ProviderError):
    code = "GLK-308"
    is_open = True
    summary = "The provider does not know an order of ours."
    remedy = "Look whether the token is another account's; the ledger has the order's receipt."


class NotArrived(ProviderError):
    code = "GLK-309"
    is_open = True
    summary = "A picture is drawn and did not arrive."
    remedy = "Nothing to do: it is fetched again for as long as the provider keeps it, and no attempt is used."


class OutcomeUnknown(ProviderError):
    """Of a provider that gives no receipts: nobody can find out, so nobody asks it again but a person."""

    code = "GLK-310"
    summary = "The provider was asked and did not answer, and keeps no record to ask after: it may have charged for it."
    remedy = "Look at the account's usage. If it was not charged, or you want to pay again: retry the job."


class EditUnusable(GenerationError):
    """`said` is fit for the row."""

    code = "GLK-311"
    summary = "An edit cannot be made as it was asked for."
    remedy = "Correct what it says (the prompt, an image, a sample or a mask), and ask again."

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said
