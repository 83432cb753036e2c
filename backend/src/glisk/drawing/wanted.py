"""What a job may say of the picture that it wants, within bounds (seed 000)."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

LEAST_SIDE, MOST_SIDE = 64, 2048
MOST_STEPS = 150
SEEDS = 2**32
NO_PROMPT = "Missing required prompt for image generation"

Side = Annotated[int, Meta(ge=LEAST_SIDE, le=MOST_SIDE)]


class LoraHere(Struct, frozen=True):
    """What the step before has fetched and checked."""

    name: str
    url: str
    weight: float = 1.0


class Wanted(Struct, frozen=True):
    """A side that is not said is that of the settings; without a seed, any will do."""

    prompt: str | None = None
    width: Side | None = None
    height: Side | None = None
    steps: Annotated[int, Meta(ge=1, le=MOST_STEPS)] = 20
    seed: Annotated[int, Meta(ge=0, lt=SEEDS)] | None = None
    lora: LoraHere | None = None


class Unfit(ValueError):
    """In words for whoever asked."""


def wanted_in(payload: Any) -> Wanted:
    """From a job's payload as JSON; numbers may come as text, since a form has nothing else. `lora` is not the asker's to say."""
    try:
        return msgspec.json.decode(payload, type=Wanted, strict=False)
    except msgspec.DecodeError as error:
        raise Unfit(f"The picture cannot be drawn as it is asked for: {error}") from error
