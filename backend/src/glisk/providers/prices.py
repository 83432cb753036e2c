"""What does a picture cost, or an answer? A price per image, per second of computing, per million tokens; the operator's table adds to ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

NOTHING = Decimal(0)
A_MILLIONTH = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Price:
    """In US dollars."""

    image: Decimal = NOTHING
    second: Decimal = NOTHING
    input: Decimal = NOTHING  # tokens that a language model reads, and those that it writes
    output: Decimal = NOTHING

    def of(self, images: int, seconds: float) -> Decimal:
        """To the millionth of a dollar, as the ledger keeps it."""
        return (self.image * images + self.second * Decimal(str(seconds))).quantize(A_MILLIONTH)

    def of_tokens(self, read: int, written: int) -> Decimal:
        return ((self.input * read + self.output * written) / 1_000_000).quantize(A_MILLIONTH)


# As published for Replicate's official models; `GLISK_PRICES` corrects them.
PRICES: Mapping[str, Price] = {
    "black-forest-labs/flux-schnell": Price(image=Decimal("0.003")),
    "black-forest-labs/flux-dev": Price(image=Decimal("0.025")),
    "black-forest-labs/flux-krea-dev": Price(image=Decimal("0.025")),
    "black-forest-labs/flux-pro": Price(image=Decimal("0.04")),
    "black-forest-labs/flux-1.1-pro": Price(image=Decimal("0.04")),
    "black-forest-labs/flux-1.1-pro-ultra": Price(image=Decimal("0.06")),
    "black-forest-labs/flux-kontext-pro": Price(image=Decimal("0.04")),
    "stability-ai/sdxl": Price(second=Decimal("0.000975")),
}


def price_of(model: str, own: Mapping[str, Price]) -> Price | None:
    """Of a model at any version of it. None: nobody knows."""
    name = model.removeprefix("deployments/").split(":")[0]
    return own.get(model) or own.get(name) or PRICES.get(name)
