"""What a stand-in has been told to do: a queue for the next calls, over behaviour that stays."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct


class Drop(StrEnum):
    """When the connection ends without the answer it should have carried."""

    BEFORE = "before"  # the call was never taken
    AFTER = "after"  # it was taken, and paid for if it is one that costs
    MID_BODY = "mid_body"  # likewise, and half of the answer arrives


class Scenario(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    on: str = "create"  # the call's name, as the log shows it
    prompt: str = ""  # only for calls whose prompt has this in it
    times: int | None = 1  # None: until the reset
    chance: float = 1.0
    status_code: int | None = None
    body: str | None = None  # instead of what the provider says with that code
    content_type: str | None = None
    retry_after_s: int | None = None
    taken: bool = False  # the call is taken although the answer is an error
    drop: Drop | None = None
    reset: bool = False  # drop by RST rather than by FIN
    delay_s: float = 0.0  # before the answer, after the effect
    hold: str = ""  # likewise, until this gate is released


S = TypeVar("S", bound=Scenario)


@dataclass(slots=True)
class Line(Generic[S]):
    given: Mapping[str, Any]
    scenario: S
    left: int | None

    def fits(self, call: str, prompt: str, dice: random.Random) -> bool:
        found = self.scenario
        return found.on == call and found.prompt in prompt and (found.chance >= 1 or dice.random() < found.chance)


class Script(Generic[S]):
    def __init__(self, kind: type[S]) -> None:
        self.kind = kind
        self.clear()

    def clear(self) -> None:
        self.lines: list[Line[S]] = []
        self.dice = random.Random(0)  # noqa: S311 - the same run, the same faults

    def add(self, given: Mapping[str, Any]) -> None:
        scenario = msgspec.convert(given, self.kind)
        self.lines.append(Line(given, scenario, scenario.times))

    def next(self, call: str, prompt: str) -> S:
        """What stays is laid under the first of the queue: a dropped answer does not make a slow model fast."""
        fitting = [line for line in self.lines if line.left != 0 and line.fits(call, prompt, self.dice)]
        layers = [line.given for line in fitting if line.left is None]
        if first := next((line for line in fitting if line.left is not None), None):
            first.left = (first.left or 0) - 1
            layers.append(first.given)
        return msgspec.convert({name: value for layer in layers for name, value in layer.items()}, self.kind)
