"""What the engine pays for what lies about: finished and delayed rows beside the ready ones, and rows that no vacuum may remove."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

import asyncpg

from benchmarks import claim, meter, rounds, stage
from benchmarks.peers.ours import NOOP
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared

ROUNDS, LIMIT = 3, 100
READY, FINISHED, DELAYED = 10_000, 3_000_000, 300_000
CYCLES, CYCLE = 5, 10_000
FILL_FINISHED = f"""
    INSERT INTO jobs (workflow, status, finished_at)
    SELECT '{NOOP.name}', 'completed', now() FROM generate_series(1, {FINISHED})"""
# In every priority: a claim must not walk through those of the higher ones.
FILL_DELAYED = f"""
    INSERT INTO jobs (workflow, priority, not_before)
    SELECT '{NOOP.name}', n % 10, now() + interval '1 day' + n * interval '1 ms' FROM generate_series(1, {DELAYED}) n"""
FILL_READY = f"INSERT INTO jobs (workflow) SELECT '{NOOP.name}' FROM generate_series(1, {READY})"


def measure(server: str) -> Iterator[Row]:
    yield from claims(server)
    yield from drains(server)


def claims(server: str) -> Iterator[Row]:
    with stage.database(server, "ours") as small, stage.database(server, "ours") as large:
        stage.execute(small, FILL_READY, "VACUUM ANALYZE jobs")
        stage.execute(large, FILL_FINISHED, FILL_DELAYED, FILL_READY, "VACUUM ANALYZE jobs", "CHECKPOINT")
        turns = {"empty": partial(claim_turn, small), "full": partial(claim_turn, large)}
        figures = rounds.interleaved(f"claim of {LIMIT}", turns, ROUNDS)
    for unit, ours in figures["full"].items():
        measure = f"claim of {LIMIT} beside {FINISHED:,} finished and {DELAYED:,} delayed, {unit}"
        theirs = figures["empty"][unit]
        yield compared("engine", measure, "itself beside none", ours=ours, theirs=theirs, at_least=0.667)


def claim_turn(url: str) -> Figures:
    async def cost() -> Figures:
        connection = await asyncpg.connect(url)
        try:
            return dict(zip(claim.UNITS, await claim.median_cost(connection, NOOP, "pending", LIMIT), strict=True))
        finally:
            await connection.close()

    return asyncio.run(cost())


def drains(server: str) -> Iterator[Row]:
    turns = {"glisk": partial(snapshot_turn, server)}
    figures = rounds.interleaved("held snapshot", turns, ROUNDS)["glisk"]
    first, last = figures[cpu_in(1)], figures[cpu_in(CYCLES)]
    measure = f"drain under a held snapshot, {cpu_in(CYCLES)}"
    yield compared("engine", measure, "itself in cycle 1", ours=last, theirs=first, at_least=0.5)


def snapshot_turn(server: str) -> Figures:
    with stage.database(server, "ours") as url:
        figures = asyncio.run(cycles(url))
        stage.check_done("ours", url, CYCLES * CYCLE)
    return figures


async def cycles(url: str) -> Figures:
    holder = await asyncpg.connect(url)
    try:
        async with holder.transaction(isolation="repeatable_read"):
            await holder.fetch("SELECT FROM jobs")  # BEGIN alone takes no snapshot
            return {cpu_in(number): await asyncio.to_thread(cycle, url) for number in range(1, CYCLES + 1)}
    finally:
        await holder.close()


def cpu_in(number: int) -> str:
    return f"database CPU a job in cycle {number}, ms"


def cycle(url: str) -> float:
    """Statistics are fresh, as autovacuum would have them by and by; what it may not remove stays."""
    stage.run("ours", "enqueue_bulk", url, CYCLE)
    stage.execute(url, "ANALYZE")
    before = meter.read(url)
    stage.run("ours", "drain", url, CYCLE)
    return 1000 * (meter.read(url) - before).cpu / CYCLE
