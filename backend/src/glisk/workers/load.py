"""How much work is there for us? Counted from the index of the open rows, and only as far as it matters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.engine.worker import Station
from glisk.engine.workflow import WorkTable
from glisk.workers.scaling import Load, StepLoad, total

# Parameters: workflows, waiting states, active states, limit, what our workers' names begin with.
# One probe per priority level, as the claim does it: else every delayed row of the higher levels is walked.
# ORDER BY .. LIMIT pins the index, and the filter by name stays outside of it: inside, the planner scans the table.
COUNT = """
    SELECT s.n, ready.n AS ready, live.n AS live
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS s(workflow, waiting, active, n)
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS n FROM (
        SELECT FROM generate_series(9, 0, -1) AS level(priority) CROSS JOIN LATERAL (
          SELECT FROM {table}
          WHERE workflow = s.workflow AND status = s.waiting AND finished_at IS NULL AND priority = level.priority
            AND ready_at <= now()
          ORDER BY ready_at, id LIMIT $4) r
        LIMIT $4) x) ready
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS n FROM (
        SELECT leased_by FROM {table} WHERE workflow = s.workflow AND status = s.active AND finished_at IS NULL
        ORDER BY priority, ready_at, id LIMIT 10000) x WHERE starts_with(leased_by, $5)) live
    ORDER BY s.n"""


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
    rows = await link.fetch(count_in(table), names, waitings, actives, limit, ours)
    return [
        StepLoad(row["ready"], row["live"], station.processor.lane) for row, station in zip(rows, staff, strict=True)
    ]


def count_in(table: WorkTable) -> str:
    return COUNT.replace("{table}", table.name)


async def rooms(link: Link) -> dict[str, int]:
    """What each lane takes at once; nothing while it is held or closed."""
    return {
        row["lane"]: row["max_concurrency"] if row["state"] == "open" else 0 for row in await lanes.every_lane(link)
    }
