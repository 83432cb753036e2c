"""The ledger of paid effects: a row before every call, closed once. The database refuses a second open one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from glisk.engine.statements import statement
from glisk.engine.store import Fetch

Outcome: TypeAlias = Literal["open", "done", "refused", "failed", "cancelled", "unknown"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """`resumed` is a call that was open already: find out what became of it before anything is paid."""

    id: int
    seed: int | None
    receipt: str | None
    resumed: bool


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
    prompt_sha256: bytes | None = None,
    prompt: str | None = None,
    prompt_source: str | None = None,
) -> Attempt:
    """What was asked for is kept as it was sent first: resuming changes none of it."""
    terms = (item, step, epoch, provider, model, seed, prompt_sha256, worker, prompt, prompt_source)
    (row,) = await fetch(statement("open_attempt"), *terms)
    return Attempt(row["attempt_id"], row["seed"], row["receipt"], row["resumed"])


async def record(
    fetch: Fetch,
    attempt: int,
    outcome: Outcome,
    *,
    receipt: str | None = None,
    cost: Decimal | None = None,
    error_code: str | None = None,
    error: str | None = None,
) -> bool:
    """False when it was closed before: what is closed stays as it is."""
    rows: Any = await fetch(statement("record_attempt"), attempt, outcome, receipt, cost, error_code, error)
    return bool(rows)
