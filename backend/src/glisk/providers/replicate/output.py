"""Where is the picture in what a model returned? A string, a list, or an object; an https address, or the bytes inline."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from glisk.errors import ProviderError, ProviderFailed
from glisk.providers.download import expired
from glisk.providers.prices import Price
from glisk.providers.replicate import classify
from glisk.providers.replicate.prediction import Prediction

ENDED = frozenset({"succeeded", "failed", "canceled", "aborted"})


def is_over(prediction: Prediction) -> bool:
    """It may still be called processing when its output is whole already."""
    return prediction.status in ENDED or bool(list(addresses(prediction.output)))


def address(prediction: Prediction, cost: Decimal | None) -> str:
    """Of its picture. Raises what an end without one means."""
    found = next(addresses(prediction.output), None)
    if prediction.status not in ("failed", "canceled", "aborted") and found:
        return found
    raise without_picture(prediction, cost)


def addresses(output: Any) -> Iterator[str]:
    if isinstance(output, str) and output.startswith(("https://", "http://", "data:")):
        yield output
    elif isinstance(output, list | tuple):
        for part in output:
            yield from addresses(part)
    elif isinstance(output, dict):
        for part in output.values():
            yield from addresses(part)


def without_picture(prediction: Prediction, cost: Decimal | None, lacks: str = "a picture") -> ProviderError:
    if prediction.status == "failed":
        return classify.failure(prediction.error or "The prediction failed and does not say why", cost)
    if prediction.status in ("canceled", "aborted"):
        said = f"The prediction was {prediction.status} at Replicate"
        return ProviderFailed(said, category=prediction.status, provider_code=prediction.status, cost=cost)
    if prediction.output is None and not prediction.input:
        gone = expired("Replicate removes everything an hour after the prediction")
        gone.cost = cost
        return gone
    # Models drop the pictures that their filter dislikes, and call what is left a success.
    if classify.meaning_of(prediction.logs) == "policy":
        return classify.failure("NSFW content detected in every picture", cost)
    return ProviderFailed(f"The prediction succeeded without {lacks}", category="image", cost=cost)


def cost(prediction: Prediction, price: Price | None) -> Decimal | None:
    """None: nobody knows the price. Time is charged however it ended, unless it never began; pictures only if there are any."""
    if price is None:
        return None
    images = len(list(addresses(prediction.output))) if prediction.status != "failed" else 0
    if prediction.status == "succeeded":
        images = max(1, images)  # what its filter dropped, or what was removed since, was drawn all the same
    return price.of(images, 0 if prediction.status == "aborted" else prediction.seconds)
