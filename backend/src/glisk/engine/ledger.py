"""The ledger of paid effects: a row before every call, closed once. The database refuses a second open one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

import asyncpg

from glisk.engine.decide import Closing, Outcome, storable
from glisk.engine.statements import statement
from glisk.engine.store import Fetch, encode
from glisk.engine.workflow import WorkTable


class SeedTaken(Exception):
    """By another call that is open: with that one it would be mixed up."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """`is_resumed`: a call that was open already, with what it asked for then: find out what became of it before anything
    is paid. `age`: for how long it has been open."""

    id: int
    provider: str
    seed: int | None
    prompt: str | None
    prompt_source: str | None
    receipt: str | None
    opened_at: datetime
    age: timedelta
    is_resumed: bool


async def open_attempt(
    fetch: Fetch,
    item: int,
    step: str,
    epoch: int,
    *,
    provider: str,
    worker: str,
    model: str | None = None,
    seed: int | None = None,
    prompt: str | None = None,
    prompt_source: str | None = None,
    cost: Decimal | None = None,
) -> Attempt:
    """What was asked for is kept as it was sent first: resuming changes none of it. Raises SeedTaken when another open call
    has this seed."""
    digest = None if prompt is None else sha256(prompt.encode()).digest()
    terms = (item, step, epoch, provider, model, seed, digest, worker, prompt, prompt_source, cost)
    try:
        (row,) = await fetch(statement("open_attempt"), *terms)
    except asyncpg.UniqueViolationError as error:
        raise SeedTaken from error
    asked = (row["provider"], row["seed"], row["prompt"], row["prompt_source"])
    return Attempt(row["attempt_id"], *asked, row["receipt"], row["started_at"], row["age"], row["resumed"])


async def record(
    fetch: Fetch,
    attempt: int,
    outcome: Outcome,
    *,
    receipt: str | None = None,
    cost: Decimal | None = None,
    error_code: str | None = None,
    error: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> bool:
    """False when it was closed before: what is closed stays as it is."""
    said = None if error is None else storable(error)
    terms = (attempt, outcome, receipt, cost, error_code, said, None if details is None else encode(details).decode())
    return bool(await fetch(statement("record_attempt"), *terms))


async def close(fetch: Fetch, closing: Closing) -> bool:
    return await record(
        *(fetch, closing.attempt, closing.outcome),
        cost=closing.cost,
        error_code=closing.error_code,
        error=closing.error,
        details=closing.details,
    )


async def limited_for(fetch: Fetch, item: int, step: str) -> timedelta:
    """For how long this row has been told to come back later, and nothing else."""
    (row,) = await fetch(statement("limited_since"), item, step)
    return row["lasted"] or timedelta()


async def spent_today(fetch: Fetch) -> tuple[Decimal, Decimal, timedelta]:
    """What is spent, what open calls will probably cost, and how much is left of the day."""
    (row,) = await fetch(statement("spent_today"))
    return Decimal(row["spent"]), Decimal(row["ordered"]), row["rest"]


async def left_open(fetch: Fetch, table: WorkTable, provider: str, step: str, item: int | None = None) -> list[Any]:
    """The calls whose row has ended without them."""
    return list(await fetch(statement("left_open", table), provider, step, item))
