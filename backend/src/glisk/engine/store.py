"""Runs the engine's statements: takes rows, and writes what was decided about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from operator import is_not, itemgetter
from typing import Any, TypeAlias

import msgspec

from glisk.engine.decide import Held, Transition
from glisk.engine.statements import statement
from glisk.engine.workflow import Workflow, WorkTable

encode = msgspec.json.Encoder().encode

# How a statement is run, text first, then its parameters: the `fetch` of an asyncpg connection, or the same over a session.
Fetch: TypeAlias = Callable[..., Awaitable[Sequence[Any]]]
Floor: TypeAlias = tuple[int, float]  # a priority, and since when its rows must be ready, in seconds of the epoch
Decided: TypeAlias = tuple[Held, Transition]
Shape: TypeAlias = tuple[str, str, int, bool, tuple[str, ...]]  # from, to, failures, whether it ends, which facts


SOONEST, MOST_URGENT = itemgetter("ready_since", "id"), itemgetter("priority")
is_something = partial(is_not, None)
NO_FLOOR: Floor = (-1, 0.0)  # no row has this priority


class Unwritable(Exception):
    """A fact that no column can hold: the processor's mistake."""


async def pick(fetch: Fetch, workflow: Workflow, waiting: str, limit: int) -> list[int]:
    """The ids of the next rows, in order, locked until the caller's transaction ends."""
    if limit < 1:
        return []
    return [row["id"] for row in await fetch(statement("pick", workflow.table), workflow.name, waiting, limit)]


async def claim(
    fetch: Fetch,
    workflow: Workflow,
    waiting: str,
    *,
    limit: int,
    worker: str,
    lease: timedelta,
    floor: Floor | None = None,
    suspects: bool = False,
) -> list[Any]:
    """The next rows, in order, now ours until the lease ends. With a floor: none of its priority that were ready before it."""
    if limit < 1:
        return []
    level, since = floor or NO_FLOOR
    terms = (workflow.name, waiting, limit, workflow.active(waiting), worker, lease, level, since)
    return in_order(await fetch(statement("claim", workflow.table, suspects=suspects), *terms))


def in_order(rows: Iterable[Any]) -> list[Any]:
    """As they were picked. Twice, since a sort keeps the order of equals, and names are looked up faster than computed."""
    return sorted(sorted(rows, key=SOONEST), key=MOST_URGENT, reverse=True)


async def settle(
    fetch: Fetch, table: WorkTable, decided: Iterable[Decided], actor: str, *, with_parents: bool = True
) -> dict[int, bool]:
    """The ids that were still the caller's, each with whether others wait for it; of the rest nothing was written.
    Whoever settles parents must release their children in the same transaction."""
    settled: dict[int, bool] = {}
    for (*common, names), group in by_shape(decided).items():
        ids, epochs = [row.id for row, _ in group], [row.epoch for row, _ in group]
        delays = sparse([to.delay for _, to in group])
        facts = [sparse(column(table, name, [to.facts[name] for _, to in group])) for name in names]
        sql = statement("settle", table, names)
        (written,) = await fetch(sql, ids, epochs, delays, *common, actor, with_parents, *facts)
        settled.update(dict.fromkeys(ids if written["ids"] is None else written["ids"], False))
        settled.update(dict.fromkeys(written["releasing"] or (), True))
    return settled


def by_shape(decided: Iterable[Decided]) -> dict[Shape, list[Decided]]:
    """Together those that go the same way and leave the same facts: a statement each, and few arrays to send."""
    groups: defaultdict[Shape, list[Decided]] = defaultdict(list)
    for pair in decided:
        row, to = pair
        groups[row.status, to.status, to.retry_count, to.is_final, tuple(to.facts)].append(pair)
    return groups


def sparse(values: list[Any]) -> list[Any] | None:
    """None for an array of nothing else: beside longer ones an unnest fills up what is missing."""
    return values if any(map(is_something, values)) else None


def values(table: WorkTable, facts: Mapping[str, Any]) -> list[Any]:
    """One of each, for a statement that writes the same into every row."""
    return [column(table, name, [value])[0] for name, value in facts.items()]


def column(table: WorkTable, name: str, values: list[Any]) -> list[Any]:
    """As the database takes them. Raises Unwritable for what no column can hold."""
    if name not in table.facts:
        raise Unwritable(f"{table.name} has no column for the fact {name!r}")
    if table.facts[name] != "jsonb":
        return values
    try:
        return [None if value is None else encode(value).decode() for value in values]
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise Unwritable(f"{name}: {error}") from error


async def note(
    fetch: Fetch,
    table: WorkTable,
    row: Held,
    facts: Mapping[str, Any],
    actor: str,
    event: Mapping[str, Any] | None = None,
) -> bool:
    """Writes facts in the middle of the work, and an event if there is one. False: the claim is no longer the caller's."""
    told = None if event is None else encode(event).decode()
    return bool(
        await fetch(statement("note", table, tuple(facts)), row.id, row.epoch, actor, told, *values(table, facts))
    )


async def release(fetch: Fetch, table: WorkTable, parents: Sequence[int], good: Sequence[str]) -> list[Any]:
    """Frees the children of finished parents; those it fails are parents in turn, however deep."""
    moved: list[Any] = []
    while parents:
        rows = await fetch(statement("release", table), parents, good)
        moved += rows
        parents = [row["id"] for row in rows if row["broken"]]
    return moved
