"""What a workflow is: waiting states, and for each the process that works on it and where its verdicts lead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

FAILED = "failed"
REVIEW = "review"  # a person looks; only workflows that name it have it


@dataclass(frozen=True, slots=True, eq=False)
class WorkTable:
    """A table whose rows are work: its name, the column of the last error, the columns a step may write facts into with
    their types (and which of them are merged, not replaced), those a processor reads beside the work columns, the column
    a budget is counted in, the table of the edges between rows that wait for each other, and the column of the options
    that a row has of its own."""

    name: str
    error: str
    facts: Mapping[str, str]
    reads: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()
    budget: str = "retry_count"
    edges: str = ""
    options: str = ""

    def __post_init__(self) -> None:
        # These names become SQL text, the only ones that do.
        facts = (*self.facts, *self.facts.values())
        for name in (self.name, self.error, *facts, *self.reads, *self.merges, self.budget, self.edges or "none"):
            if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
                raise ValueError(f"Not a plain SQL name: {name!r}")


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a row rests after its n-th failure in a row: doubling from `first` up to `cap`."""

    first: timedelta
    cap: timedelta

    def after(self, failures: int, jitter: float = 0.0) -> timedelta:
        doublings = min(max(failures - 1, 0), 32)
        grown = self.first.total_seconds() * (1 << doublings) * (1 + jitter)
        return self.cap if grown >= self.cap.total_seconds() else timedelta(seconds=grown)


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
    deadline: timedelta | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Workflow:
    """The steps by their waiting state, and the statuses that end it. Where a step leaves `active` or `failure` out, they
    are its process and its waiting state. It checks itself when it is made."""

    name: str
    table: WorkTable
    steps: Mapping[str, Step] = field(default_factory=dict)
    finals: frozenset[str] = frozenset({"completed", FAILED})

    def __post_init__(self) -> None:
        if problems := list(self.problems()):
            raise ValueError(f"Workflow {self.name}: " + "; ".join(problems))

    def active(self, waiting: str) -> str:
        step = self.steps[waiting]
        return step.active or step.process

    def failure(self, waiting: str) -> str:
        return self.steps[waiting].failure or waiting

    def is_final(self, status: str) -> bool:
        return status not in self.steps

    def statuses(self) -> set[str]:
        return set(self.steps) | {self.active(waiting) for waiting in self.steps} | self.finals

    def goods(self) -> set[str]:
        """The statuses that end it well."""
        return {step.success for step in self.steps.values()} - set(self.steps)

    def problems(self) -> Iterator[str]:
        known = set(self.steps) | self.finals
        actives = [self.active(waiting) for waiting in self.steps]
        for waiting, step in self.steps.items():
            for target in (step.success, self.failure(waiting)):
                if target not in known:
                    yield f"{waiting} leads to the unknown status {target}"
            if step.attempts not in (None, self.table.budget):
                yield f"{waiting} counts its attempts in {step.attempts}, its table in {self.table.budget}"
        for active in {active for active in actives if actives.count(active) > 1 or active in known}:
            yield f"the active state {active} is used twice"
        yield from (f"{waiting} leads back to itself" for waiting in self.steps if self.is_in_loop(waiting))

    def is_in_loop(self, start: str) -> bool:
        seen, status = set[str](), start
        while status in self.steps and status not in seen:
            seen.add(status)
            status = self.steps[status].success
        return status == start


def by_name(workflows: Iterable[Workflow]) -> dict[str, Workflow]:
    found: dict[str, Workflow] = {}
    for workflow in workflows:
        if workflow.name in found:
            raise ValueError(f"Two workflows are called {workflow.name}")
        found[workflow.name] = workflow
    return found
