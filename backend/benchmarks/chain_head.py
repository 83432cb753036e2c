"""How soon a mint on the development chain is a row: from before its block is asked for until a reader of the table is told."""

from __future__ import annotations

import asyncio
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import asyncpg

from benchmarks import rounds, stage
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared
from tests.chains import Chain, a_chain

ROUNDS, MINTS, WARM_UP = 3, 200, 10
P50, P99 = "from block to row, p50, ms", "from block to row, p99, ms"
LIMITS = {P50: 50.0, P99: 250.0}
CHANNEL = "born"
# PostgreSQL tells when it has committed, and everybody sees the row.
TELL = f"""
    CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_notify('{CHANNEL}', NEW.token_id::text); RETURN NULL; END $$;
    CREATE TRIGGER tell AFTER INSERT ON tokens_s0 FOR EACH ROW EXECUTE FUNCTION tell()"""


def measure(server: str) -> Iterator[Row]:
    figures = rounds.interleaved("chain: head", {"glisk": partial(turn, server)}, ROUNDS)["glisk"]
    for what, most in LIMITS.items():
        yield compared("chain", what, "a limit", ours=figures[what], theirs=most, at_least=1)


def turn(server: str) -> Figures:
    with stage.database(server, "logs_ours") as url:
        stage.execute(url, TELL)
        waits = asyncio.run(waited(url))[WARM_UP:]
    return {P50: statistics.median(waits), P99: statistics.quantiles(waits, n=100)[-1]}


async def waited(url: str) -> list[float]:
    async with a_chain() as chain:
        contract = await chain.deploy_collection()
        await chain.automine(False)
        with following(url, chain.url, contract):
            return await each_wait(chain, url)


@contextmanager
def following(url: str, node: str, contract: str) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.peers.listening", "follow", url, node, contract]
    with subprocess.Popen(command) as listener:
        try:
            yield
        finally:
            listener.kill()


async def each_wait(chain: Chain, url: str) -> list[float]:
    """Milliseconds for each mint. One after the other, at no regular pace: neither a poll nor a timer can meet them."""
    connection, born = await asyncpg.connect(url), asyncio.Queue[float]()
    await connection.add_listener(CHANNEL, lambda *_: born.put_nowait(time.perf_counter()))
    waits = [await wait(chain, born) for _ in range(WARM_UP + MINTS)]
    await connection.close()
    return waits


async def wait(chain: Chain, born: asyncio.Queue[Any]) -> float:
    await asyncio.sleep(random.uniform(0.02, 0.2))
    await chain.mint()
    asked_at = time.perf_counter()
    await chain.ask("evm_mine")
    return 1000 * (float(await born.get()) - asked_at)
