"""Who tags pictures? As the settings say; with none, what can be measured in a picture, and the words it was asked for with."""

from __future__ import annotations

import asyncio
import base64
import io
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
from PIL import Image

from glisk.errors import ProviderFailed
from glisk.images.tags import MOST, Tag, tags_of
from glisk.providers import chosen
from glisk.providers.answerer import Answer, Answerer
from glisk.providers.port import Receipt
from glisk.providers.prices import price_of
from glisk.settings import Settings

FREE = Decimal(0)
SIDE = 448  # pixels: as much as taggers look at
NAMES, SCORES = ("name", "tag", "label"), ("score", "confidence", "probability")


@dataclass(frozen=True, slots=True)
class Tagged:
    """A picture to be tagged."""

    data: bytes
    url: str
    prompt: str = ""

    def inputs(self) -> dict[str, Any]:
        """Small enough to be sent along: nobody else can fetch it from us."""
        return {"image": f"data:image/jpeg;base64,{base64.b64encode(small(self.data)).decode()}"}

    def words(self) -> str:
        return self.url


class Measuring:
    """The embedded one."""

    name, model = "tagger", "tagger-1"
    is_free, has_receipts = True, False

    def words(self, question: Tagged) -> str:
        return question.words()

    async def answer(self, question: Tagged, receipt: Receipt) -> Answer:
        try:
            found = await asyncio.to_thread(tags_of, question.data, question.prompt)
        except ValueError as error:
            raise ProviderFailed(f"The picture cannot be tagged: {error}", category="image") from error
        return Answer([msgspec.to_builtins(tag) for tag in found], FREE)

    async def forget(self, receipt: Receipt) -> Decimal | None:
        return FREE

    async def close(self) -> None:
        """There is nothing to let go of."""


def tagger(settings: Settings, **further: Any) -> Answerer[Tagged]:
    if not settings.tagger_model:
        return Measuring()
    from glisk.providers.replicate.answers import ReplicateAnswers

    return ReplicateAnswers[Tagged](chosen.replicate_terms(settings, settings.tagger_model, "tagger_model", **further))


def estimate(settings: Settings) -> Decimal | None:
    if not settings.tagger_model:
        return FREE
    price = price_of(settings.tagger_model, chosen.own_prices(settings))
    return chosen.required(price.of(1, 1) if price else None, settings.tagger_model, settings)


def tags_in(output: Any) -> list[dict[str, Any]]:
    """However a model writes them: names with scores, a list, or words between commas. Raises ValueError for anything else."""
    found = [Tag(snake(name), round(min(1.0, max(0.0, score)), 4)) for name, score in pairs(output)]
    named = sorted({tag.name: tag for tag in found if tag.name}.values(), key=lambda tag: (-tag.score, tag.name))
    if not named:
        raise ValueError("there are no tags in it")
    return [msgspec.to_builtins(tag) for tag in named[:MOST]]


def pairs(output: Any) -> list[tuple[str, float]]:
    if isinstance(output, str):
        return (
            pairs(decoded(output)) if output.lstrip()[:1] in ("{", "[") else [(each, 1.0) for each in output.split(",")]
        )
    if isinstance(output, dict):
        inner = output.get("tags")
        if isinstance(inner, list | dict | str):
            return pairs(inner)
        return [(str(name), float(score)) for name, score in output.items() if isinstance(score, int | float)]
    if isinstance(output, list):
        return [pair(each) for each in output]
    raise ValueError(f"tags are wanted, not {type(output).__name__}")


def pair(each: Any) -> tuple[str, float]:
    if isinstance(each, str):
        return each, 1.0
    if not isinstance(each, dict):
        raise ValueError(f"a tag is wanted, not {type(each).__name__}")
    name = next((each[key] for key in NAMES if isinstance(each.get(key), str)), "")
    return name, next((float(each[key]) for key in SCORES if isinstance(each.get(key), int | float)), 1.0)


def decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"tags are wanted: {error}") from error


def snake(name: str) -> str:
    return re.sub(r"\s+", "_", name.strip().casefold())[:100]


def small(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        copy = image.convert("RGB")
    copy.thumbnail((SIDE, SIDE))
    copy.save(out := io.BytesIO(), "JPEG", quality=90)
    return out.getvalue()
