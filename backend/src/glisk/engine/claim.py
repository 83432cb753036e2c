"""A claim: the right to work one row, and what a processor may do with it meanwhile."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

from glisk.engine.decide import Verdict
from glisk.engine.link import Link
from glisk.engine.options import own_backoff
from glisk.engine.workflow import Backoff, Workflow, WorkTable

Fence: TypeAlias = tuple[int, int]  # an id and its epoch: which claim is meant, of the several a row may have had


class Notes(Protocol):
    worker: str

    @property
    def link(self) -> Link: ...

    async def write(self, claim: Claim, facts: Mapping[str, Any], event: Mapping[str, Any] | None) -> bool: ...

    def progress(self, claim: Claim, percent: int) -> None: ...


class Claim:
    """The row as it was when it was claimed; `row["payload"]` and the like are the table's own columns. Its status is the active
    state of its step."""

    __slots__ = ("epoch", "id", "is_lost", "noted", "notes", "row", "status", "task", "waiting", "workflow")

    def __init__(self, workflow: Workflow, waiting: str, status: str, row: Any, notes: Notes) -> None:
        self.workflow, self.waiting, self.status, self.row, self.notes = workflow, waiting, status, row, notes
        self.id: int = row["id"]
        self.epoch: int = row["epoch"]
        self.task: asyncio.Task[None] | None = None  # while it is worked on
        self.is_lost = False
        self.noted: dict[str, Any] = {}

    async def note(self, event: Mapping[str, Any] | None = None, **facts: Any) -> bool:
        """Writes facts in the middle of the work, for sure, and tells of them if there is an event. False: the claim is no
        longer ours."""
        self.noted |= facts
        return await self.notes.write(self, facts, event)

    def progress(self, percent: int) -> None:
        """How far the work is, for those who watch; written now and then."""
        self.notes.progress(self, percent)

    def reached(self, part: float) -> None:
        """How far this step is, from 0 to 1; those who watch see how far the whole row is."""
        self.progress(self.percent(part))

    def percent(self, part: float) -> int:
        steps = list(self.workflow.steps)
        return int(100 * (steps.index(self.waiting) + part) / len(steps))

    @property
    def link(self) -> Link:
        """To the database, for what belongs to the work. Never held over a call to somebody else."""
        return self.notes.link

    @property
    def worker(self) -> str:
        return self.notes.worker

    @property
    def fence(self) -> Fence:
        return self.id, self.epoch

    def lose(self) -> None:
        """Somebody else's now: the work stops and writes nothing. Once: it may still be cleaning up."""
        if not self.is_lost:
            self.is_lost = True
            self.cancel()

    def cancel(self) -> None:
        if self.task:
            self.task.cancel()

    # What is decided by, looked up when it is asked for: most claims are done, and nothing more is asked.

    @property
    def retry_count(self) -> int:
        return int(self.row["retry_count"])

    @property
    def spent(self) -> int:
        budget = self.workflow.steps[self.waiting].attempts
        return int(self.row[budget]) if budget else 0

    @property
    def used(self) -> int:
        budget = self.workflow.steps[self.waiting].attempts
        return int(self.noted.get(budget, 0)) if budget else 0

    @property
    def max_attempts(self) -> int | None:
        most: int | None = self.row["max_attempts"] if self.workflow.table.options else None
        return most

    @property
    def backoff(self) -> Backoff | None:
        options = self.workflow.table.options
        return own_backoff(self.row[options]) if options and self.row[options] else None


def by_table(claims: Iterable[Claim]) -> dict[WorkTable, list[Claim]]:
    found: dict[WorkTable, list[Claim]] = defaultdict(list)
    for claim in claims:
        found[claim.workflow.table].append(claim)
    return found


def fences(claims: Iterable[Claim]) -> tuple[list[int], list[int]]:
    """Their ids and their epochs, as a statement takes them."""
    return [claim.id for claim in claims], [claim.epoch for claim in claims]


def lost(claims: Iterable[Claim], kept: Iterable[Any]) -> set[Fence]:
    """Those that a fenced write did not find."""
    ids = {row["id"] for row in kept}
    return {claim.fence for claim in claims if claim.id not in ids}


class Processor(Protocol):
    """Does the work of one process. It returns a verdict, or raises, which is a verdict too. Claims that need not wait for
    anything are worked on in one task: leave nothing behind in it, neither context variables nor a timer that cancels it."""

    lane: str | None

    async def run(self, claim: Claim) -> Verdict: ...


@runtime_checkable
class Hears(Protocol):
    """A processor that wants to know when somebody outside has news of an order."""

    def hint(self, receipt: str) -> None: ...


@runtime_checkable
class Lasting(Protocol):
    """A processor with something to let go of when its process ends."""

    async def close(self) -> None: ...
