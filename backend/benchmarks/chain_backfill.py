"""How fast the listener catches up with a chain that has 200,000 mints, each told of by two logs as GliskCollection does, and what
it weighs while it catches up with a million."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import asyncpg
import msgspec

from benchmarks import rounds, stage
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared
from tests import nodes
from tests.ledger import Ledger

ROUNDS, AIM = 3, 8_000.0
NEAR = 0.25  # of what the database takes when nothing is read: with each token come two logs to decode, its log and its event
LEDGER = Ledger(blocks=50_000, mints=4, tells="both")
LONG = Ledger(blocks=250_000, mints=4)  # of a million events
FLAT = 1.1  # times what it was
PATIENCE_S = 900
SPEED = f"backfill of {LEDGER.tokens:,} mints, tokens/s"
BARE = "a bare INSERT of the same tokens"
WEIGHT = f"memory in the last quarter of a backfill of {LONG.tokens:,} events, MB"


def measure(server: str) -> Iterator[Row]:
    yield from speed(server)
    yield from weight(server)


def speed(server: str) -> Iterator[Row]:
    with nodes.as_process(LEDGER) as node:
        turns = {
            name: partial(turn, server, node, action) for name, action in (("glisk", "backfill"), (BARE, "insert"))
        }
        figures = rounds.interleaved("chain: backfill", turns, ROUNDS)
    ours, bare = figures["glisk"][SPEED], figures[BARE][SPEED]
    yield compared("chain", SPEED, "a limit", ours=ours, theirs=AIM, at_least=1, more_is_better=True)
    yield compared("chain", SPEED, BARE, ours=ours, theirs=bare, at_least=NEAR, more_is_better=True)


def turn(server: str, node: str, action: str) -> Figures:
    with stage.database(server, "logs_ours") as url:
        took = listened(action, url, node, LEDGER)["seconds"]
        asyncio.run(check(url, LEDGER))
    return {SPEED: LEDGER.tokens / took}


def weight(server: str) -> Iterator[Row]:
    with nodes.as_process(LONG) as node, stage.database(server, "logs_ours") as url:
        weights = [each / 2**20 for each in listened("backfill", url, node, LONG)["weights"]]
        asyncio.run(check(url, LONG))
    rounds.keep("chain: memory", 1, "glisk", {f"{5 * n} %, MB": mb for n, mb in enumerate(weights, 1)})
    second, last = max(weights[5:10]), max(weights[15:])
    yield compared("chain", WEIGHT, "in its second quarter", ours=last, theirs=second, at_least=round(1 / FLAT, 3))


def listened(action: str, url: str, node: str, ledger: Ledger) -> Any:
    command = [
        sys.executable,
        "-m",
        "benchmarks.peers.listening",
        action,
        url,
        node,
        msgspec.json.encode(ledger).decode(),
    ]
    ended = subprocess.run(command, stdout=subprocess.PIPE, timeout=PATIENCE_S, check=True)
    return json.loads(ended.stdout)


async def check(url: str, ledger: Ledger) -> None:
    """Nobody is faster for having left something out."""
    connection = await asyncpg.connect(url)
    (found,) = await connection.fetch(
        "SELECT count(*) AS n, min(token_id) AS first, max(token_id) AS last FROM tokens_s0"
    )
    await connection.close()
    assert tuple(found) == (ledger.tokens, 1, ledger.tokens), f"There are {tuple(found)} of {ledger.tokens} tokens"
