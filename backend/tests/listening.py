"""A listener at work in a test, and the cursor to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import asyncpg

from glisk.chain.listener import Listener
from glisk.chain.mint import Contract
from glisk.chain.pace import Pace
from glisk.chain.rpc.pool import Rpc
from tests.chains import Chain, Minted

QUICK = timedelta(milliseconds=10)
PACE = Pace(confirmations=2, poll=QUICK, sure_after=QUICK, audit_every=timedelta(hours=1), standby=QUICK)
TELL = """
    CREATE FUNCTION tell_of_the_cursor() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NOTIFY glisk_cursor; RETURN NULL; END $$;
    CREATE TRIGGER tell_of_the_cursor AFTER INSERT OR UPDATE ON chain_cursor EXECUTE FUNCTION tell_of_the_cursor();
    CREATE TRIGGER tell_of_tokens AFTER INSERT ON tokens_s0 EXECUTE FUNCTION tell_of_the_cursor()"""
HELD = """
    SELECT token_id, minter, wallet_address AS author, mint_block_hash AS block_hash
    FROM tokens_s0 JOIN authors USING (author_id) WHERE status <> 'orphaned' AND contract_address = $1 ORDER BY token_id"""


class Watch:
    """The cursor, whenever it moves."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.turn = connection, asyncio.Lock()
        self.moved: set[asyncio.Event] = set()

    def tell(self) -> None:
        for event in self.moved:
            event.set()

    async def fetch(self, sql: str, *arguments: Any) -> list[Any]:
        async with self.turn:
            rows: list[Any] = await self.connection.fetch(sql, *arguments)
            return rows

    async def value(self, sql: str, *arguments: Any) -> Any:
        return (await self.fetch(sql, *arguments))[0][0]

    async def until(self, condition: str) -> Any:
        """The cursor is like that."""
        return await self.until_there(f"SELECT * FROM chain_cursor WHERE {condition}")

    async def until_there(self, sql: str) -> Any:
        """The first row there is, looked for whenever the cursor moves or tokens come."""
        self.moved.add(moved := asyncio.Event())
        while not (rows := await self.fetch(sql)):
            await moved.wait()
            moved.clear()
        self.moved.discard(moved)
        return rows[0]

    async def tokens(self, contract: str) -> list[Minted]:
        rows = await self.fetch(HELD, contract)
        return [Minted(int(row["token_id"]), row["minter"], row["author"], row["block_hash"]) for row in rows]


@asynccontextmanager
async def watching(database_url: str) -> AsyncIterator[Watch]:
    """Its connection is called `test`, so that those of a listener can be told from it."""
    connection = await asyncpg.connect(database_url, server_settings={"application_name": "test"})
    try:
        await connection.execute(TELL)
        watch = Watch(connection)
        await connection.add_listener("glisk_cursor", lambda *_: watch.tell())
        yield watch
    finally:
        await connection.close()


@asynccontextmanager
async def following(
    database_url: str, chain: Chain, contract: str = "", pace: Pace = PACE, start: int | None = None
) -> AsyncIterator[asyncio.Task[None]]:
    """Raises what ended it, if it has ended."""
    task = asyncio.create_task(follow(database_url, chain.url, contract or chain.contract, pace, start))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def follow(database_url: str, url: str, contract: str, pace: Pace = PACE, start: int | None = None) -> None:
    rpc = Rpc(Chain.chain_id, [url])
    try:
        await Listener(database_url, rpc, Contract(Chain.chain_id, contract), pace, start=start).run()
    finally:
        await rpc.close()
