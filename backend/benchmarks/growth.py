"""What the engine pays for what lies about: finished and delayed rows beside the ready ones, and rows that no vacuum may remove."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from functools import partial

import asyncpg

from benchmarks import claim, meter, rounds, stage
from benchmarks.peers.ours import NOOP
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared
from glisk.engine.link import Link
from glisk.engine.reaper import Reaper

ROUNDS, LIMIT, REAPS = 3, 100, 20
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
        turns = {"empty": partial(looking_turn, small), "full": partial(looking_turn, large)}
        figures = rounds.interleaved("beside", turns, ROUNDS)
    for what, ours in figures["full"].items():
        measure = f"beside {FINISHED:,} finished and {DELAYED:,} delayed, {what}"
        yield compared(
            "engine", measure, "itself beside none", ours=ours, theirs=figures["empty"][what], at_least=0.667
        )


def looking_turn(url: str) -> Figures:
    """What a claim costs, and what it costs to look for what dead workers held."""

    async def costs() -> Figures:
        link = Link(url, steady=True)
        try:
            claimed = await claim.median_cost(await link.opened(), NOOP, "pending", LIMIT)
            named = (f"claim of {LIMIT}, {unit}" for unit in claim.UNITS)
            return {**dict(zip(named, claimed, strict=True)), "look of the reaper, ms": await median_reap(link)}
        finally:
            await link.close()

    return asyncio.run(costs())


async def median_reap(link: Link) -> float:
    reaper = Reaper(link, [NOOP], most_reclaims=3, actor="bench", good=["completed"])
    taken = []
    for _ in range(REAPS):
        started = time.perf_counter()
        assert not await reaper.reap()
        taken.append(1000 * (time.perf_counter() - started))
    return statistics.median(taken)


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
