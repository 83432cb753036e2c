"""What a claim costs in a small table and in a large one: its price must not grow with what is finished or waiting."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.row import Row, compared
from glisk.db import migrate
from glisk.dev import postgres
from glisk.engine import store
from glisk.engine.workflow import Workflow
from glisk.workflows import TOKEN
from tests.builders import MANY_TOKENS

SMALL, SIZES, ROUNDS = 1_000, (100_000, 1_000_000), 50
UNITS = ("buffers", "ms")


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as directory, postgres.running(Path(directory) / "postgres") as url:
        migrate.upgrade(url)
        costs = asyncio.run(measured(url))
    for size in SIZES:
        for unit, ours, theirs in zip(UNITS, costs[size], costs[SMALL], strict=True):
            name = f"{unit} per claim of 10, {size:,} rows, a fifth waiting"
            yield compared("claim", name, f"itself at {SMALL:,} rows", ours=ours, theirs=theirs, at_least=0.5)


async def measured(url: str) -> dict[int, tuple[float, float]]:
    connection = await asyncpg.connect(url)
    try:
        return {size: await cost(connection, size) for size in (SMALL, *SIZES)}
    finally:
        await connection.close()


async def cost(connection: Any, size: int, rounds: int = ROUNDS) -> tuple[float, float]:
    """Of a claim in a table of that size."""
    await connection.execute("TRUNCATE tokens_s0, authors, author_prompts, image_prints, pins")
    await connection.execute(MANY_TOKENS, size, ["detected", *4 * ["failed"]], 0)
    await connection.execute("VACUUM ANALYZE tokens_s0")
    return await median_cost(connection, TOKEN, "detected", 10, rounds)


async def median_cost(
    connection: Any, workflow: Workflow, waiting: str, limit: int, rounds: int = ROUNDS
) -> tuple[float, float]:
    """Buffers and milliseconds of a claim that is rolled back."""
    samples = [await sample(connection, workflow, waiting, limit) for _ in range(rounds)]
    buffers, milliseconds = (statistics.median(column) for column in zip(*samples, strict=True))
    return buffers, round(milliseconds, 3)


async def sample(connection: Any, workflow: Workflow, waiting: str, limit: int) -> tuple[int, float]:
    plan: dict[str, Any] = {}

    async def explain(sql: str, *arguments: Any) -> Sequence[Any]:
        explained = await connection.fetchval("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + sql, *arguments)
        plan.update(json.loads(explained)[0]["Plan"])
        return []

    await undone(connection, workflow, waiting, limit, explain)
    elapsed = await undone(connection, workflow, waiting, limit, connection.fetch)
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], 1000 * elapsed


async def undone(connection: Any, workflow: Workflow, waiting: str, limit: int, fetch: store.Fetch) -> float:
    """The seconds that the claim took, not its rollback."""
    transaction = connection.transaction()
    await transaction.start()
    started = time.perf_counter()
    await store.claim(fetch, workflow, waiting, limit=limit, worker="bench", lease=timedelta(minutes=1))
    elapsed = time.perf_counter() - started
    await transaction.rollback()
    return elapsed
