"""What a claim costs in a small table and in a large one: its price must not grow with what is finished or waiting."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.row import Row, compared
from glisk.db import migrate
from glisk.dev import postgres
from glisk.engine.statements import statement
from glisk.workflows import TOKENS
from tests.builders import MANY_TOKENS

SMALL, SIZES, ROUNDS = 1_000, (100_000, 1_000_000), 50
ARGUMENTS = ("token", "detected", 10, "generating", "bench", timedelta(minutes=1))


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as directory, postgres.running(Path(directory) / "postgres") as url:
        migrate.upgrade(url)
        costs = asyncio.run(measured(url))
    for size in SIZES:
        for n, unit in enumerate(("buffers", "ms")):
            ours, theirs = costs[size][n], costs[SMALL][n]
            name = f"{unit} per claim of 10, {size:,} rows, a fifth waiting"
            yield compared("claim", name, f"itself at {SMALL:,} rows", ours=ours, theirs=theirs, at_least=0.5)


async def measured(url: str) -> dict[int, tuple[float, float]]:
    connection = await asyncpg.connect(url)
    try:
        return {size: await cost(connection, size) for size in (SMALL, *SIZES)}
    finally:
        await connection.close()


async def cost(connection: Any, size: int, rounds: int = ROUNDS) -> tuple[float, float]:
    """Median buffers and milliseconds of a claim that is rolled back."""
    await connection.execute("TRUNCATE tokens_s0, authors")
    await connection.execute(MANY_TOKENS, size, ["detected", *4 * ["failed"]], 0)
    await connection.execute("VACUUM ANALYZE tokens_s0")
    samples = [await sample(connection) for _ in range(rounds)]
    buffers, milliseconds = (statistics.median(column) for column in zip(*samples, strict=True))
    return buffers, round(milliseconds, 3)


async def sample(connection: Any) -> tuple[int, float]:
    transaction = connection.transaction()
    await transaction.start()
    query = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement("claim", TOKENS)
    plan = json.loads(await connection.fetchval(query, *ARGUMENTS))[0]["Plan"]
    await transaction.rollback()
    transaction = connection.transaction()
    await transaction.start()
    started = time.perf_counter()
    await connection.fetch(statement("claim", TOKENS), *ARGUMENTS)
    elapsed = time.perf_counter() - started
    await transaction.rollback()
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], 1000 * elapsed
