"""The listener in a process of its own: `python -m benchmarks.peers.listening ACTION DATABASE NODE …` prints what came of it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import asyncpg
import msgspec
import psutil

from glisk import following
from glisk.chain import calls
from glisk.chain.listener import Listener
from glisk.chain.mint import Contract, Mint
from glisk.chain.pace import Pace
from glisk.chain.rpc.pool import Rpc
from glisk.logs import configure
from glisk.settings import Settings
from tests.ledger import FIRST, Ledger
from tests.nodes import CHAIN_ID
from tests.wire import ADDRESS

CONTRACT = Contract(CHAIN_ID, ADDRESS)
SAMPLES = 20
LOOK_S = 0.02
AUTHORS = "INSERT INTO authors (wallet_address) SELECT DISTINCT unnest($1::text[])"
BARE = """
    INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, minter, mint_block, mint_block_hash, mint_tx, mint_log)
    SELECT $1, $2, v.token, a.author_id, v.minter, v.number, v.hash, v.tx, v.log
    FROM unnest($3::text[]::numeric[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::bytea[], $9::integer[])
      AS v(token, author, minter, number, hash, tx, log) JOIN authors a ON a.wallet_address = v.author"""


async def backfill(url: str, node: str, ledger: Ledger) -> dict[str, Any]:
    """Seconds until the last block is in, and what the process weighed at every twentieth of the way."""
    rpc = Rpc(CHAIN_ID, [node])
    started = time.perf_counter()
    listening = asyncio.create_task(Listener(url, rpc, CONTRACT, Pace(), start=FIRST).run())
    weights = await weighed(url, ledger, listening)
    took = time.perf_counter() - started
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await rpc.close()
    return {"seconds": took, "weights": weights}


async def follow(url: str, node: str, address: str) -> None:
    """As `glisk listen` does, on the development chain, until somebody ends the process."""
    urls, pace = [node, node.replace("http", "ws")], Pace(confirmations=following.EMBEDDED_CONFIRMATIONS)
    await following.follow(url, following.Source(urls, [(None, address)], None, pace), lambda *_: None)


async def weighed(url: str, ledger: Ledger, listening: asyncio.Task[None]) -> list[int]:
    connection, process, weights = await asyncpg.connect(url), psutil.Process(), list[int]()
    while (tip := await connection.fetchval("SELECT max(tip_no) FROM chain_cursor") or 0) < ledger.head:
        if listening.done():
            listening.result()
        if (tip - FIRST + 1) * SAMPLES >= (len(weights) + 1) * ledger.blocks:
            weights.append(process.memory_info().rss)
        await asyncio.sleep(LOOK_S)
    await connection.close()
    return [*weights, process.memory_info().rss]


async def insert(url: str, node: str, ledger: Ledger) -> dict[str, Any]:
    """The same tokens, from memory, and nothing else: what the database alone takes."""
    mints, connection = await every_mint(node, ledger), await asyncpg.connect(url)
    await connection.execute(AUTHORS, [mint.author for mint in mints])
    page = 5_000
    started = time.perf_counter()
    for at in range(0, len(mints), page):
        await connection.execute(BARE, CHAIN_ID, ADDRESS, *columns(mints[at : at + page]))
    took = time.perf_counter() - started
    await connection.close()
    return {"seconds": took}


async def every_mint(node: str, ledger: Ledger) -> list[Mint]:
    rpc, found = Rpc(CHAIN_ID, [node]), list[Mint]()
    for first in range(FIRST, ledger.head + 1, 1_000):
        asked, _ = calls.logs_between(CONTRACT, first, min(first + 999, ledger.head))
        found += (await rpc.ask(asked)).results[0].mints
    await rpc.close()
    return found


def columns(mints: list[Mint]) -> list[list[Any]]:
    rows = (
        (str(m.first_token_id), m.author, m.minter, m.block_number, m.block_hash, m.tx_hash, m.log_index) for m in mints
    )
    return [list(column) for column in zip(*rows, strict=True)]


def main(action: str, url: str, node: str, what: str) -> None:
    configure(Settings(log_level="warning"))
    if action == "follow":
        asyncio.run(follow(url, node, what))
    work = {"backfill": backfill, "insert": insert}[action]
    print(json.dumps(asyncio.run(work(url, node, msgspec.json.decode(what, type=Ledger)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
