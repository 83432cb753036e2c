"""How many worker processes are wanted? Pure: no clock, no database."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class Size:
    """At least and at most so many processes."""

    minimum: int = 1
    maximum: int = 1

    @property
    def is_fixed(self) -> bool:
        return self.minimum == self.maximum

    def __str__(self) -> str:
        if self.maximum == 1:
            return "one worker process"
        return f"{self.maximum if self.is_fixed else f'{self.minimum} to {self.maximum}'} worker processes"


@dataclass(frozen=True, slots=True)
class Load:
    """Rows that could be worked on now, and rows that our processes work on, both counted only as far as they matter."""

    ready: int
    live: int


@dataclass(frozen=True, slots=True)
class StepLoad:
    ready: int
    live: int
    lane: str | None = None


def wanted(ready: int, live: int, minimum: int, maximum: int, per_process: int) -> int:
    """Room for everything that is at work or could be, within the bounds. What is at work counts, so that a busy process
    is not sent away because nothing more waits."""
    return max(minimum, min(maximum, ceil((ready + live) / per_process)))


def total(steps: Iterable[StepLoad], room: Mapping[str, int]) -> Load:
    """A lane takes no more than it has room for, however much waits and however many processes there are; one that is
    missing takes nothing."""
    ready, live = 0, 0
    left = dict(room)
    for step in steps:
        useful = step.ready if step.lane is None else min(step.ready, left.get(step.lane, 0))
        if step.lane in left:
            left[step.lane] -= useful
        ready, live = ready + useful, live + step.live
    return Load(ready, live)


class Steadied:
    """Grows at once; shrinks to the most that was wanted in a quiet while of so many looks, so it does not flap."""

    def __init__(self, looks: int) -> None:
        self.recent: deque[int] = deque(maxlen=looks)

    def after(self, wish: int) -> int:
        self.recent.append(wish)
        return max(self.recent)
