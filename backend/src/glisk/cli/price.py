"""What a person is told about money before they say yes."""

from __future__ import annotations

from glisk import settings
from glisk.providers import chosen
from glisk.repositories.rerunning import GENERATING, PINNING

GAS = "Each reveal costs gas."


def of_rerun(step: str, tokens: int) -> str:
    if step == GENERATING:
        return f"{of_pictures(tokens)} {GAS}"
    if step == PINNING:
        return f"No picture is paid for. {GAS}"
    return "No picture is paid for, and no gas for what the chain shows already."


def of_pictures(tokens: int) -> str:
    found = chosen.price(settings.load())
    if found is None:
        return "What the pictures cost nobody knows (GLISK_PRICES)."
    cost = found.of(tokens, tokens * chosen.USUAL_SECONDS)
    return f"The pictures cost about ${cost.normalize():f}." if cost else "The pictures cost nothing."
