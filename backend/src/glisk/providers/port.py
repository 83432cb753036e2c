"""The port to whoever draws: an order in, a picture out, or one of the errors under ProviderError."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Lora:
    """Weights to draw with: the name of their file, without its ending, where they can be fetched, and how strongly they count."""

    name: str
    url: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be drawn. The seed is this order's alone: by it the order is found again when its receipt was lost. `steps`: as many
    as asked for, where the painter can choose; None: its own number."""

    prompt: str
    seed: int
    width: int = 1024
    height: int = 1024
    steps: int | None = None
    lora: Lora | None = None


@dataclass(slots=True)
class Receipt:
    """By what the provider knows the order. `keep` stores it for whoever comes after us. `is_resumed`: the order may have
    been placed already, so look before anything is paid. `age`: not longer ago than that, when we began; no instant,
    since the provider's clock is not ours."""

    keep: Callable[[str], Awaitable[None]]
    age: timedelta = timedelta()
    is_resumed: bool = False
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes as the provider made them, where it keeps them (if it does), what it charged and which version of the model drew it
    (if it says)."""

    data: bytes
    url: str | None = None
    cost: Decimal | None = None
    version: str = ""


class Painter(Protocol):
    """Draws an order that is new, or goes on with one that was placed before: the same order is never paid for twice."""

    name: str
    model: str

    @property
    def takes_lora(self) -> bool:
        """Whether it can draw with weights of somebody's own; otherwise it draws without."""

    async def draw(self, order: Order, receipt: Receipt) -> Picture: ...

    async def abandon(self, order: Order, receipt: Receipt) -> Decimal | None:
        """Nobody wants it any more: stop it if it can be stopped. What it cost all the same, if that is known."""

    async def close(self) -> None: ...
