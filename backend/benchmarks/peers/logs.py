"""What those who read logs have in common: the questions, and the rows that come of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TypeAlias

import asyncpg
import httpx
import msgspec

from glisk.chain import decode
from glisk.chain.mint import Contract, Mint
from glisk.db import migrate
from tests.ledger import FIRST
from tests.nodes import CHAIN_ID
from tests.wire import ADDRESS

Read: TypeAlias = Callable[[int, int], Awaitable[list[Mint]]]  # the mints of the blocks first .. last

CONTRACT = Contract(CHAIN_ID, ADDRESS)
MINTS = 4  # in a block
PAGE = 2_500  # blocks: ten thousand logs, as many as an endpoint gives
PASSES = 3  # over an answer that has arrived
COLUMNS = (
    *("chain_id", "contract_address", "block_number", "block_hash", "log_index", "tx_hash", "kind"),
    *("first_token_id", "quantity", "minter", "author"),
)


def install(url: str) -> None:
    migrate.upgrade(url)


async def stored(url: str, n: int, read: Read) -> float:
    """Seconds for n events. While a page is written the next one is read, for all alike."""
    connection = await asyncpg.connect(url)
    started = time.perf_counter()
    async for mints in ahead(n, read):
        rows = (row(mint) for mint in mints)
        await connection.copy_records_to_table("chain_event", columns=COLUMNS, records=rows)
    took = time.perf_counter() - started
    await connection.close()
    return took


async def ahead(n: int, read: Read) -> AsyncIterator[list[Mint]]:
    following: asyncio.Future[list[Mint]] | None = None
    for first, last in pages_of(n):
        task = asyncio.ensure_future(read(first, last))
        if following is not None:
            yield await following
        following = task
    if following is not None:
        yield await following


def pages_of(n: int) -> Iterator[tuple[int, int]]:
    end = FIRST + n // MINTS
    return ((first, min(first + PAGE, end) - 1) for first in range(FIRST, end, PAGE))


def row(mint: Mint) -> tuple[object, ...]:
    place = (*(CONTRACT.chain_id, CONTRACT.address), mint.block_number, mint.block_hash, mint.log_index, mint.tx_hash)
    return (*place, mint.kind, mint.first_token_id, mint.quantity, mint.minter, mint.author)


async def done(url: str, n: int) -> int:
    connection = await asyncpg.connect(url)
    found: int = await connection.fetchval("SELECT count(*) FROM chain_event")
    await connection.close()
    return found


def answer(port: int, n: int) -> bytes:
    """The logs of the first blocks, as the node sent them."""
    terms = {"fromBlock": hex(FIRST), "toBlock": hex(FIRST + n // MINTS - 1), "topics": [decode.BATCHES]}
    question = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [terms]}
    response = httpx.post(f"http://127.0.0.1:{port}", json=question, timeout=60)
    return bytes(msgspec.json.decode(response.content, type=dict[str, msgspec.Raw])["result"])
