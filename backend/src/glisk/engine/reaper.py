"""Gives back what dead workers held, and parks what nobody can work on. At start-up and on a timer alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import structlog

from glisk.engine import store
from glisk.engine.link import Link
from glisk.engine.statements import statement
from glisk.engine.workflow import Workflow, WorkTable

log = structlog.get_logger()


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
            parked = [row for workflow in workflows for row in await self.park(fetch, workflow)]
            if table.edges:
                ended = [row["id"] for row in (*reaped, *parked) if row["releases"]]
                await store.release(fetch, table, ended, self.good)
        for what, row in [*(("lease expired", row) for row in reaped), *(("status unknown", row) for row in parked)]:
            log.warning(what, id=row["id"], workflow=row["workflow"], status=row["status"])
        return len(reaped)

    async def park(self, fetch: store.Fetch, workflow: Workflow) -> list[Any]:
        statuses = sorted(workflow.statuses())
        return list(await fetch(statement("park", workflow.table), workflow.name, statuses, self.actor))


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
