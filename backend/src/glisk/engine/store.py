"""Runs the engine's statements: takes rows, and writes what was decided about them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeAlias

import msgspec

from glisk.engine.decide import Row, Transition
from glisk.engine.statements import statement
from glisk.engine.workflow import Workflow, WorkTable

encode = msgspec.json.Encoder().encode

# How a statement is run, text first, then its parameters: the `fetch` of an asyncpg connection, or the same over a session.
Fetch: TypeAlias = Callable[..., Awaitable[Sequence[Any]]]
Decided: TypeAlias = tuple[Row, Transition]


async def pick(fetch: Fetch, workflow: Workflow, waiting: str, limit: int) -> list[int]:
    """The ids of the next rows, in order, locked until the caller's transaction ends."""
    if limit < 1:
        return []
    return [row["id"] for row in await fetch(statement("pick", workflow.table), workflow.name, waiting, limit)]


async def claim(
    fetch: Fetch, workflow: Workflow, waiting: str, *, limit: int, worker: str, lease: timedelta
) -> list[Any]:
    """The next rows, in order, now ours until the lease ends."""
    if limit < 1:
        return []
    sql = statement("claim", workflow.table)
    return in_order(await fetch(sql, workflow.name, waiting, limit, workflow.active(waiting), worker, lease))


def in_order(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: (-row["priority"], row["ready_at"], row["id"]))


async def settle(
    fetch: Fetch, table: WorkTable, decided: Iterable[Decided], actor: str, *, with_parents: bool = True
) -> dict[int, bool]:
    """The ids that were still the caller's, each with whether others wait for it; of the rest nothing was written.
    Whoever settles parents must release their children in the same transaction."""
    columns = list(zip(*(settlement(row, transition) for row, transition in decided), strict=True))
    if not columns:
        return {}
    rows = await fetch(statement("settle", table), *map(list, columns), actor, with_parents)
    return {row["id"]: row["releases"] for row in rows}


def settlement(row: Row, to: Transition) -> tuple[Any, ...]:
    facts = encode({name: as_json(value) for name, value in to.facts.items()}).decode()
    return row.id, row.epoch, row.status, to.status, to.retry_count, to.delay, to.is_final, facts


def as_json(value: Any) -> Any:
    """A bytea is written in PostgreSQL's hex; the encoder alone would make it base64."""
    return f"\\x{value.hex()}" if isinstance(value, bytes) else value


async def release(fetch: Fetch, table: WorkTable, parents: Sequence[int], good: Sequence[str]) -> list[Any]:
    """Frees the children of finished parents; those it fails are parents in turn, however deep."""
    moved: list[Any] = []
    while parents:
        rows = await fetch(statement("release", table), parents, good)
        moved += rows
        parents = [row["id"] for row in rows if row["broken"]]
    return moved
