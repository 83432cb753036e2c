"""PostgreSQL: there, new enough, migrated, on time; and whether what lies in it moves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from glisk.db.server import connected, require_head
from glisk.doctor.finding import Finding, Patient, Probe, ok
from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.engine.reaper import way_in
from glisk.engine.statements import statement
from glisk.repositories.pipeline_board import actives
from glisk.settings import variable
from glisk.values import text
from glisk.workflows import JOBS, TOKENS, WORKFLOWS

CHANNEL = "glisk_doctor"
SKEW_S = 2.0
# What is at work has an index of its own, state by state.
STALE = """
    SELECT count(*) AS n, array_agg(DISTINCT leased_by) AS workers FROM unnest($1::text[], $2::text[]) AS s(workflow, active)
    CROSS JOIN LATERAL (
      (SELECT leased_by, leased_until FROM tokens_s0 WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL
       ORDER BY id LIMIT 1000)
      UNION ALL
      (SELECT leased_by, leased_until FROM jobs WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL
       ORDER BY id LIMIT 1000)) AS held
    WHERE leased_until < now() - interval '1 minute'"""
LAG = """
    SELECT chain_id, contract_address, GREATEST(head_no - tip_no, 0) AS blocks, halted,
      extract(epoch FROM now() - updated_at)::float8 AS silent FROM chain_cursor ORDER BY chain_id, contract_address"""


def probes(patient: Patient) -> Sequence[Probe]:
    is_real = bool(text(patient.settings.database_url))
    name = variable("database_url")
    return [
        Probe("PostgreSQL", partial(server, patient.url), "real" if is_real else "embedded", name),
        Probe("clock", partial(clock, patient.url)),
        Probe("notifications", partial(notifications, patient.url)),
    ]


def later_probes(patient: Patient) -> Sequence[Probe]:
    limit = patient.settings.alert_lag
    return [
        Probe("listener", partial(listener, patient.url, limit)),
        Probe("lanes", partial(held_lanes, patient.url)),
        Probe("leases", partial(leases, patient.url)),
        Probe("statuses", partial(statuses, patient.url)),
    ]


async def server(url: str) -> Finding:
    async with connected(url) as connection:
        version = await connection.fetchval("SELECT current_setting('server_version')")
    await require_head(url)
    return ok(f"version {version}, schema as this Glisk needs it")


async def clock(url: str) -> Finding:
    async with connected(url) as connection:
        before = time.time()
        theirs = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
        skew = theirs - (before + time.time()) / 2
    seen = f"{abs(skew) * 1000:.0f} ms {'behind' if skew > 0 else 'ahead of'} the database's"
    return ok(seen) if abs(skew) < SKEW_S else Finding("warning", seen, "Set the clocks of both machines by NTP.")


async def notifications(url: str) -> Finding:
    """By way of two connections, as they are used."""
    async with a_link(url) as hearing, a_link(url) as telling:
        heard = asyncio.Event()
        await hearing.listen({CHANNEL: lambda _: heard.set()})
        began = time.monotonic()
        await telling.fetch("SELECT pg_notify($1, '')", CHANNEL)
        await heard.wait()
    return ok(f"there and back in {(time.monotonic() - began) * 1000:.0f} ms")


async def listener(url: str, limit: float) -> Finding:
    rows = await read(url, LAG)
    if halted := [row for row in rows if row["halted"]]:
        return Finding("broken", f"{named(halted[0])}: {halted[0]['halted']}", "glisk chain status says what to do.")
    if not rows:
        return ok("nothing was followed yet")
    worst = max(rows, key=lambda row: row["silent"])
    if worst["silent"] > limit:
        seen = f"{named(worst)} was last read {worst['silent']:.0f} s ago"
        return Finding("warning", seen, "Start it: glisk up, or glisk listen.")
    return ok(f"{max(row['blocks'] for row in rows)} blocks behind, read {worst['silent']:.0f} s ago")


async def held_lanes(url: str) -> Finding:
    async with a_link(url) as link:
        every = await lanes.every_lane(link)
    held = [lane for lane in every if lane["state"] == "held"]
    if not held:
        return ok(f"{len(every)} lanes, none held")
    told = "; ".join(f"{lane['lane']}: {lane['held_reason']}" for lane in held)
    return Finding("warning", f"held: {told}", f"Mend the cause, then: glisk lanes resume {held[0]['lane']}")


async def leases(url: str) -> Finding:
    pairs = actives()
    (row,) = await read(url, STALE, [name for name, _ in pairs], [active for _, active in pairs])
    if not row["n"]:
        return ok("none was left behind")
    seen = f"{row['n']} left behind by {', '.join(sorted(filter(None, row['workers'])))}"
    return Finding("warning", seen, "Any worker takes them back: glisk up, or glisk work.")


async def statuses(url: str) -> Finding:
    found = [row for table in (TOKENS, JOBS) for row in await read(url, statement("statuses", table))]
    strangers = sorted({f"{row['workflow']}/{row['status']}" for row in found if not is_known(row)})
    if strangers:
        fix = "Work of another version of Glisk: run that, or retry them."
        return Finding("warning", f"unknown: {', '.join(strangers)}", fix)
    lost = sorted({f"{row['workflow']}/{row['status']}" for row in found if is_lost(row)})
    if lost:
        return Finding(
            "warning", f"nobody looks at {', '.join(lost)}", "Any worker brings them in: glisk up, or glisk work."
        )
    return ok("all are known")


def is_known(row: Any) -> bool:
    flow = WORKFLOWS.get(row["workflow"])
    return flow is not None and row["status"] in flow.statuses()


def is_lost(row: Any) -> bool:
    return way_in(WORKFLOWS[row["workflow"]], row["status"], row["leased"]) is not None


def named(row: Any) -> str:
    return f"{row['chain_id']}:{row['contract_address']}"


async def read(url: str, sql: str, *arguments: Any) -> list[Any]:
    async with a_link(url) as link:
        return await link.fetch(sql, *arguments)


@asynccontextmanager
async def a_link(url: str) -> AsyncIterator[Link]:
    link = Link(url)
    try:
        yield link
    finally:
        await link.close()
