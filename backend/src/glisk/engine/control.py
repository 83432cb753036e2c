"""What a person does to rows: retry, cancel, pause, resume. The only way in; every action is an event with its actor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glisk.engine import store, wakeup
from glisk.engine.link import Link
from glisk.engine.statements import statement
from glisk.engine.store import Fetch
from glisk.engine.workflow import FAILED, WorkTable

CANCELLED = "Cancelled by {actor}"


async def move(
    fetch: Fetch, table: WorkTable, ids: Sequence[int], status: str, actor: str, error: str | None
) -> list[int]:
    """An error ends an open row, none sends a finished one on. The holder of a claim is put out at once: the epoch
    moves, and workers are told to look."""
    ends = error is not None
    rows = await fetch(statement("control", table), list(ids), status, ends, error, actor, ends)
    await fetch("SELECT pg_notify($1, '')", wakeup.LOST)
    await wakeup.notify(fetch, "")
    return [row["id"] for row in rows]


async def retry(link: Link, table: WorkTable, ids: Sequence[int], waiting: str, actor: str) -> list[int]:
    async with link.transaction() as fetch:
        return await move(fetch, table, ids, waiting, actor, error=None)


async def cancel(link: Link, table: WorkTable, ids: Sequence[int], actor: str, good: Sequence[str] = ()) -> list[int]:
    """Waiting or at work alike; those who wait for it are told as after any failure."""
    async with link.transaction() as fetch:
        done = await move(fetch, table, ids, FAILED, actor, CANCELLED.format(actor=actor))
        if table.edges:
            await store.release(fetch, table, done, list(good))
        return done


async def pause(link: Link, table: WorkTable, ids: Sequence[int], actor: str) -> list[int]:
    """A waiting row is not claimed while it is paused; one at work goes on."""
    return [row["id"] for row in await link.fetch(statement("pause", table), list(ids), True, actor)]


async def resume(link: Link, table: WorkTable, ids: Sequence[int], actor: str) -> list[int]:
    async with link.transaction() as fetch:
        rows = await fetch(statement("pause", table), list(ids), False, actor)
        await wakeup.notify(fetch, "")
        return [row["id"] for row in rows]


async def pause_workflow(link: Link, workflow: str, actor: str) -> bool:
    """Nothing of it is claimed any more; what is at work goes on. False: it was paused already."""
    return bool(await link.fetch(statement("pause_workflow"), workflow, actor))


async def resume_workflow(link: Link, workflow: str, actor: str) -> bool:
    async with link.transaction() as fetch:
        resumed = await fetch(statement("resume_workflow"), workflow, actor)
        await wakeup.notify(fetch, workflow)
        return bool(resumed)


async def paused_workflows(link: Link) -> list[dict[str, Any]]:
    return [dict(row) for row in await link.fetch(statement("paused_workflows"))]
