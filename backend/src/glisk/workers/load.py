"""How much work is there for us? Counted from the index of the open rows, and only as far as it matters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.engine.statements import statement
from glisk.engine.worker import Station
from glisk.engine.workflow import WorkTable
from glisk.workers.scaling import Load, StepLoad, total


async def measure(link: Link, staff: Iterable[Station], limit: int, ours: str) -> Load:
    """`limit`: nobody needs to know of more. `ours`: what the names of our workers begin with."""
    by_table: dict[WorkTable, list[Station]] = defaultdict(list)
    for station in staff:
        by_table[station.workflow.table].append(station)
    steps = [step for table, at in by_table.items() for step in await count(link, table, at, limit, ours)]
    return total(steps, await rooms(link))


async def count(link: Link, table: WorkTable, staff: list[Station], limit: int, ours: str) -> list[StepLoad]:
    names = [station.workflow.name for station in staff]
    waitings = [station.waiting for station in staff]
    actives = [station.workflow.active(station.waiting) for station in staff]
    rows = await link.fetch(statement("load", table), names, waitings, actives, limit, ours)
    return [
        StepLoad(row["ready"], row["live"], station.processor.lane) for row, station in zip(rows, staff, strict=True)
    ]


async def rooms(link: Link) -> dict[str, int]:
    """What each lane takes at once; nothing while it is held or closed."""
    return {
        row["lane"]: row["max_concurrency"] if row["state"] == "open" else 0 for row in await lanes.every_lane(link)
    }
