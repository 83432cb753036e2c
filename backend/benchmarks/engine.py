"""The engine beside its peers: one PostgreSQL, one worker process each, rounds interleaved, fresh database every time."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import asyncpg

from benchmarks.row import Row, compared
from glisk.dev import postgres

ROUNDS = 3
SETTINGS = {"shared_buffers": "1GB", "max_connections": "200"}  # fsync and synchronous_commit stay on
# Who drains how many jobs, and how.
DRAINS: dict[str, tuple[str, int, list[str]]] = {
    "glisk, batch 100": ("ours", 40_000, ["batch=100"]),
    "glisk, batch 500": ("ours", 40_000, ["batch=500"]),
    "by hand, batch 100": ("by_hand", 40_000, ["batch=100"]),
    "by hand, batch 500": ("by_hand", 40_000, ["batch=500"]),
    "pgqueuer, batch 100": ("pgqueuer_", 15_000, ["batch=100", "managers=1"]),
    "pgqueuer, batch 100, 2 managers": ("pgqueuer_", 15_000, ["batch=100", "managers=2"]),
    "awa, 256 workers": ("awa_", 6_000, ["workers=256"]),
    "procrastinate, 20": ("procrastinate_", 1_000, ["concurrency=20"]),
    "procrastinate, 50": ("procrastinate_", 1_000, ["concurrency=50"]),
}
AIMS = {"by hand": 0.35, "pgqueuer": 1.5, "awa": 5, "procrastinate": 50}
ENQUEUE_AIMS = {"pgqueuer": 1.5, "procrastinate": 5}


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as directory, postgres.running(Path(directory) / "postgres", SETTINGS) as url:
        drained, enqueued = rounds(url)
    ours = {batch: drained[f"glisk, batch {batch}"] for batch in (100, 500)}
    for name, theirs in drained.items():
        peer = name.split(",")[0]
        if peer in AIMS:
            mine = ours[500] if name == "by hand, batch 500" else ours[100]
            aim = 0.5 if name == "by hand, batch 500" else AIMS[peer]
            yield compared("engine", "drain, jobs/s", name, ours=mine, theirs=theirs, at_least=aim, more_is_better=True)
    for peer, aim in ENQUEUE_AIMS.items():
        theirs = max(rate for name, rate in enqueued.items() if name.startswith(peer))
        mine = max(rate for name, rate in enqueued.items() if name.startswith("glisk"))
        yield compared(
            "engine", "enqueue in bulk, jobs/s", peer, ours=mine, theirs=theirs, at_least=aim, more_is_better=True
        )


def rounds(url: str) -> tuple[dict[str, float], dict[str, float]]:
    """Median rates of every contestant."""
    drained, enqueued = defaultdict(list), defaultdict(list)
    for number in range(ROUNDS):
        for name, (peer, n, options) in DRAINS.items():
            enqueue_rate, drain_rate = contest(url, f"{peer}_{abs(hash((name, number)))}", peer, n, options)
            enqueued[name].append(enqueue_rate)
            drained[name].append(drain_rate)
            print(
                f"round {number + 1}: {name}: {drain_rate:,.0f} jobs/s drained, {enqueue_rate:,.0f} enqueued",
                flush=True,
            )
    return {k: statistics.median(v) for k, v in drained.items()}, {k: statistics.median(v) for k, v in enqueued.items()}


def contest(server: str, database: str, peer: str, n: int, options: list[str]) -> tuple[float, float]:
    asyncio.run(execute(server, f'CREATE DATABASE "{database}"'))
    url = server.rsplit("/", 1)[0] + f"/{database}"
    run(peer, "install", url, "0")
    enqueued = json.loads(run(peer, "enqueue_bulk", url, str(n)))
    asyncio.run(execute(url, "VACUUM ANALYZE"))
    asyncio.run(execute(url, "CHECKPOINT"))
    drained = json.loads(run(peer, "drain", url, str(n), *options))
    assert drained["done"] in (n, -1), f"{peer} says it did {drained['done']} of {n}"
    asyncio.run(execute(server, f'DROP DATABASE "{database}" WITH (FORCE)'))
    return n / enqueued["seconds"], n / drained["seconds"]


def run(*arguments: str) -> str:
    """What it printed last."""
    command = [sys.executable, "-m", "benchmarks.peers", *arguments]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return lines[-1] if lines else ""


async def execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()
