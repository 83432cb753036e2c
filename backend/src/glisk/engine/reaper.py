"""Gives back what dead workers held, and brings in what lies where nobody would find it. At start-up and on a timer alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import structlog

from glisk.engine import store
from glisk.engine.decide import storable
from glisk.engine.link import Link
from glisk.engine.statements import statement
from glisk.engine.workflow import FAILED, Workflow, WorkTable, by_name

log = structlog.get_logger()
TOLD = ("id", "workflow", "was", "status")

Way: TypeAlias = tuple[str, bool, str | None]  # to which status, whether that ends it, and what to say of it


class Reaper:
    def __init__(
        self, link: Link, workflows: Iterable[Workflow], most_reclaims: int, actor: str, good: Sequence[str]
    ) -> None:
        self.link, self.most_reclaims, self.actor, self.good = link, most_reclaims, actor, good
        self.by_table: dict[WorkTable, list[Workflow]] = defaultdict(list)
        for workflow in workflows:
            self.by_table[workflow.table].append(workflow)

    async def reap(self) -> int:
        """How many rows were given back or given up."""
        return sum([await self.reap_table(table, workflows) for table, workflows in self.by_table.items()])

    async def reap_table(self, table: WorkTable, workflows: list[Workflow]) -> int:
        async with self.link.transaction() as fetch:
            reaped = await fetch(statement("reap", table), *steps(workflows), self.most_reclaims, self.actor)
            brought_in = await self.bring_in(fetch, table, workflows)
            if table.edges:
                ended = [row["id"] for row in (*reaped, *brought_in) if row["releases"]]
                await store.release(fetch, table, ended, self.good)
        for row in reaped:
            log.warning("lease expired", id=row["id"], workflow=row["workflow"], status=row["status"])
        for row in brought_in:
            log.warning("brought in from where nobody looks", **{name: row[name] for name in TOLD})
        return len(reaped) + len(brought_in)

    async def bring_in(self, fetch: store.Fetch, table: WorkTable, workflows: list[Workflow]) -> list[Any]:
        """What somebody wrote by hand, or another version of us, into a status in which it would lie for ever."""
        lying, known = await fetch(statement("statuses", table)), by_name(workflows)
        ways = {
            (row["workflow"], row["status"]): way
            for row in lying
            if (flow := known.get(row["workflow"])) and (way := way_in(flow, row["status"], row["leased"]))
        }
        text = statement("bring_in", table)
        return [row for place, way in ways.items() for row in await fetch(text, *place, *way, self.actor)]


def way_in(workflow: Workflow, status: str, is_leased: bool) -> Way | None:
    """None: where it is somebody finds it."""
    waiting = {workflow.active(waiting): waiting for waiting in workflow.steps}
    if status in workflow.steps or (is_leased and status in waiting):
        return None
    if status in waiting:
        return waiting[status], False, None
    if status in workflow.finals:
        return status, True, None
    return FAILED, True, storable(f'Unknown workflow step: story="{workflow.name}", status="{status}"')


def steps(workflows: Iterable[Workflow]) -> tuple[list[Any], ...]:
    """Workflow, active state, waiting state and budget of every step, as columns. Twice: somebody may have written a lease
    onto a row that waits, and nobody claims it while it is there."""
    rows = [
        (workflow.name, leased, waiting, step.max_attempts if step.attempts else None)
        for workflow in workflows
        for waiting, step in workflow.steps.items()
        for leased in (workflow.active(waiting), waiting)
    ]
    return tuple(map(list, zip(*rows, strict=True)))
