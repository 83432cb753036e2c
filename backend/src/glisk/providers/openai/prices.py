"""What does an edit by OpenAI cost? By the tokens it counts, unless the operator has set a price for a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from glisk.providers.prices import Price

A_MILLION = 1_000_000
CENT_OF_A_CENT = Decimal("0.000001")  # as the ledger keeps it


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """In US dollars for a million of them."""

    text: Decimal
    image: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True)
class Usage:
    text: int
    image: int
    output: int

    def cost(self, price: TokenPrice) -> Decimal:
        dollars = self.text * price.text + self.image * price.image + self.output * price.output
        return (dollars / A_MILLION).quantize(CENT_OF_A_CENT)


# As published; `GLISK_PRICES` has those of other models, for a picture.
PRICES: Mapping[str, TokenPrice] = {
    "gpt-image-1": TokenPrice(Decimal(5), Decimal(10), Decimal(40)),
    "gpt-image-1-mini": TokenPrice(Decimal(2), Decimal("2.5"), Decimal(8)),
    "gpt-image-1.5": TokenPrice(Decimal(5), Decimal(8), Decimal(32)),
}
LARGE = Usage(text=500, image=8000, output=6208)  # the largest picture in high quality, from two others


def estimate(model: str, own: Price | None) -> Decimal | None:
    """Of one edit, rather too much than too little. None: nobody knows."""
    if own:
        return own.of(1, 0)
    return LARGE.cost(PRICES[model]) if model in PRICES else None


def charged(model: str, own: Price | None, usage: Usage | None) -> Decimal | None:
    if own or usage is None or model not in PRICES:
        return estimate(model, own)
    return usage.cost(PRICES[model])


def usage_in(told: Any) -> Usage | None:
    """As an answer tells it. None: it does not, or in another way than it used to."""
    try:
        parts = told["input_tokens_details"]
        return Usage(int(parts["text_tokens"]), int(parts["image_tokens"]), int(told["output_tokens"]))
    except (KeyError, TypeError, ValueError):
        return None
