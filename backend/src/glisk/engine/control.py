"""What a person does to rows: retry, cancel, pause, resume. The only way in; every action is an event with its actor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from glisk.engine import store, wakeup
from glisk.engine.decide import storable
from glisk.engine.link import Link
from glisk.engine.statements import statement
from glisk.engine.store import Fetch
from glisk.engine.workflow import FAILED, WorkTable

CANCELLED = "Cancelled by {actor}"


class Move(Struct, frozen=True):
    """Where rows are sent, and by whom. An error ends those that are open; without one those that have ended go on, or, where
    `was` names a status, those that are in it. The facts are the same for all; the reason is for the timeline."""

    status: str
    actor: str
    error: str | None = None
    was: str | None = None
    reason: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


async def move(
    fetch: Fetch, table: WorkTable, ids: Sequence[int], to: Move, *, epochs: Sequence[int] = ()
) -> list[int]:
    """Those that moved. The holder of a claim is put out at once: the epoch moves, and workers are told to look. With epochs,
    a row that has changed since they were read stays where it is."""
    sql, reason = statement("control", table, tuple(to.facts)), storable(to.reason) if to.reason else None
    terms = (list(ids), list(epochs), to.status, to.error is not None, to.error, to.actor, to.was, reason)
    rows = await fetch(sql, *terms, *store.values(table, to.facts))
    await fetch("SELECT pg_notify($1, '')", wakeup.LOST)
    await wakeup.notify(fetch, "")
    return [row["id"] for row in rows]


async def retry(link: Link, table: WorkTable, ids: Sequence[int], waiting: str, actor: str) -> list[int]:
    async with link.transaction() as fetch:
        return await move(fetch, table, ids, Move(waiting, actor))


async def cancel(
    link: Link,
    table: WorkTable,
    ids: Sequence[int],
    actor: str,
    good: Sequence[str] = (),
    *,
    reason: str | None = None,
) -> list[int]:
    """Waiting or at work alike; those who wait for it are told as after any failure."""
    error = storable(": ".join(filter(None, [CANCELLED.format(actor=actor), reason])))
    async with link.transaction() as fetch:
        done = await move(fetch, table, ids, Move(FAILED, actor, error, reason=reason))
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
