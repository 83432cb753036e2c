"""Lanes: what a provider can take at once and per second, shared by all workers through the database."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import structlog

from glisk.engine.decide import bounded, storable
from glisk.engine.link import Link
from glisk.engine.statements import statement
from glisk.engine.store import Fetch, in_order
from glisk.engine.workflow import Workflow, WorkTable

log = structlog.get_logger()
ANY_RATE = 1e9
SOMEBODY = "operator"
SLOWEST = 1e-6  # one call in twelve days
LONGEST_REASON = 500  # characters of a person; what providers say is cut
REMIND_EVERY = 60.0  # seconds


@dataclass(slots=True)
class Lane:
    """A lane as one process sees it, and the tables in which it may have rows at work, whoever works on them. `told_at`:
    when this process last said that it was missing."""

    name: str
    tables: tuple[WorkTable, ...]
    told_at: float = -math.inf

    def is_missed(self) -> None:
        """Every poll meets it again; once in a while is enough to say so."""
        if time.monotonic() - self.told_at >= REMIND_EVERY:
            self.told_at = time.monotonic()
            log.warning("lane missing, nothing is claimed in it: start glisk work anew to make it", lane=self.name)


class Granted(NamedTuple):
    """The rows a lane let through. `is_full`: it would not have let more through, whatever waits; `next_in`: seconds until
    its rate allows another."""

    rows: list[Any]
    is_full: bool
    next_in: float


async def claim(
    link: Link,
    lane: Lane,
    workflow: Workflow,
    waiting: str,
    *,
    limit: int,
    worker: str,
    lease: timedelta,
    suspects: bool = False,
) -> Granted:
    """A lane that somebody deleted is as good as closed."""
    async with link.transaction() as fetch:
        if not await fetch(statement("lock_lane"), lane.name):
            lane.is_missed()
            return Granted([], is_full=True, next_in=0)
        terms = (workflow.name, waiting, limit, workflow.active(waiting), worker, lease, lane.name)
        text = statement("claim_in_lane", workflow.table, suspects=suspects, counted=lane.tables)
        found = await fetch(text, *terms)
    if not found:
        return Granted([], is_full=True, next_in=0)
    rows = in_order(row for row in found if row["id"] is not None)
    return Granted(rows, is_full=len(rows) == found[0]["granted"] < limit, next_in=found[0]["next_in"])


async def make(link: Link, lane: str, concurrency: int, rate: float | None = None) -> bool:
    """Whether it was missing."""
    return bool(await link.fetch(statement("make_lane"), lane, concurrency, ANY_RATE if rate is None else rate))


async def place(link: Link, steps: Mapping[tuple[str, str], str | None]) -> None:
    """The lane of each step, a workflow and its active state. Every worker counts what is at work there."""
    keys = [list(names) for names in zip(*steps, strict=True)] or [[], []]
    await link.fetch(statement("place_steps"), *keys, list(steps.values()))


async def lock(fetch: Fetch, lane: str) -> None:
    """Until the caller's transaction ends nobody else claims in it, or spends through it."""
    await fetch(statement("lock_lane"), lane)


def reason_problem(reason: str) -> str | None:
    """What is wrong with why a person holds a lane."""
    if not reason.strip():
        return "say why; everybody will read it"
    return None if len(reason) <= LONGEST_REASON else f"at most {LONGEST_REASON} characters are wanted"


async def hold(link: Link, lane: str, reason: str, until: timedelta | None = None, *, actor: str = SOMEBODY) -> bool:
    """Until a person resumes it, or until then. Whether it was open before."""
    return bool(await link.fetch(statement("hold_lane"), lane, storable(reason), until, actor))


async def resume(link: Link, lane: str, *, actor: str = SOMEBODY) -> bool:
    return bool(await link.fetch(statement("resume_lane"), lane, actor))


async def slow(link: Link, lane: str, after: timedelta) -> None:
    """The provider asked for a pause."""
    await link.fetch(statement("slow_lane"), lane, bounded(after))


async def limit(link: Link, lane: str, concurrency: int, rate: float | None = None, *, actor: str = SOMEBODY) -> bool:
    """Without a rate, that stays as it is; ANY_RATE is no limit."""
    return bool(await link.fetch(statement("limit_lane"), lane, concurrency, rate, actor))


async def every_lane(link: Link) -> list[dict[str, Any]]:
    return [dict(row) for row in await link.fetch(statement("every_lane"))]
