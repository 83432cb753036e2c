"""What a workflow is: waiting states, and for each the process that works on it and where its verdicts lead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class WorkTable:
    """A table whose rows are work: its name, the column of the last error, and the columns a step may write facts into."""

    name: str
    error: str
    facts: tuple[str, ...]

    def __post_init__(self) -> None:
        # These names become SQL text, the only ones that do.
        for name in (self.name, self.error, *self.facts):
            if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
                raise ValueError(f"Not a plain SQL name: {name!r}")


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a row rests after its n-th failure in a row: doubling from `first` up to `cap`."""

    first: timedelta
    cap: timedelta

    def after(self, failures: int, jitter: float = 0.0) -> timedelta:
        doublings = min(max(failures - 1, 0), 32)
        grown: timedelta = self.first * (1 << doublings) * (1 + jitter)
        return min(self.cap, grown)


@dataclass(frozen=True, slots=True)
class Step:
    """One row of a workflow. `attempts` names a budget column that is counted on top of the failures in a row."""

    process: str
    success: str
    active: str = ""
    failure: str = ""
    count_failure: bool = True
    max_attempts: int | None = None
    attempts: str | None = None
    backoff: Backoff | None = None


@dataclass(frozen=True, slots=True)
class Workflow:
    """The steps by their waiting state. Where a step leaves `active` or `failure` out, they are its process and its waiting state."""

    name: str
    table: WorkTable
    steps: Mapping[str, Step] = field(default_factory=dict)

    def active(self, waiting: str) -> str:
        step = self.steps[waiting]
        return step.active or step.process

    def is_final(self, status: str) -> bool:
        return status not in self.steps
