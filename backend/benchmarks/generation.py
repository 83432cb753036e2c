"""Drawing: many predictions at once in one worker process, and what the gate costs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psutil

from benchmarks import gate, stage
from benchmarks.row import Row, compared
from glisk.db import migrate
from glisk.dev.standins import replicate_control

TOKENS, PREDICTION_S = 500, 5.0
MOST_S, MOST_MB, MOST_GATE_MS = 15.0, 400.0, 30.0
TOKEN_SQL = """
    WITH author AS (INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('ab', 20)) RETURNING author_id)
    INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, prompt)
    SELECT 1, '0x' || repeat('c0', 20), n, author_id, 'A sunset over mountains, the ' || n || 'th'
    FROM author, generate_series(1, $1::int) n"""


def measure() -> Iterator[Row]:
    for kind, cost in gate.measure().items():
        yield compared(
            "generation", f"gate, {kind} of 1024 × 1024, ms", "a limit", ours=cost, theirs=MOST_GATE_MS, at_least=1
        )
    seconds, megabytes = crowd()
    drawn = f"{TOKENS} tokens in flight, predictions of {PREDICTION_S:.0f} s"
    yield compared("generation", f"{drawn}: all drawn after, s", "a limit", ours=seconds, theirs=MOST_S, at_least=1)
    yield compared("generation", f"{drawn}: memory, MB", "a limit", ours=megabytes, theirs=MOST_MB, at_least=1)


def crowd() -> tuple[float, float]:
    """From the worker's start until the last token is drawn, and the most that the process weighed."""
    with (
        stage.server() as server,
        tempfile.TemporaryDirectory() as directory,
        replicate_control.as_process() as standin,
    ):
        migrate.upgrade(server)
        asyncio.run(insert(server))
        standin.always(on="create", runs_for_s=PREDICTION_S)
        command = [
            sys.executable,
            "-m",
            "benchmarks.peers.painting",
            server,
            standin.url,
            str(Path(directory) / "data"),
        ]
        started = time.monotonic()
        with subprocess.Popen(command) as process:
            heaviest = asyncio.run(until_drawn(server, psutil.Process(process.pid)))
            took = time.monotonic() - started
            process.terminate()
        if (charged := standin.charges()["total"]) != TOKENS:
            raise AssertionError(f"{charged} were charged for {TOKENS} tokens")
    return took, heaviest / 2**20


async def insert(server: str) -> None:
    connection = await asyncpg.connect(server)
    await connection.execute(TOKEN_SQL, TOKENS)
    await connection.close()


async def until_drawn(server: str, process: psutil.Process) -> int:
    connection, heaviest = await asyncpg.connect(server), 0
    while await connection.fetchval("SELECT count(*) FROM tokens_s0 WHERE status <> 'uploading'"):
        heaviest = max(heaviest, process.memory_info().rss)
        await asyncio.sleep(0.1)
    await connection.close()
    return heaviest
