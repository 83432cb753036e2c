"""A ceiling: claim and complete by hand, fenced, overlapped on two connections; no events, no limits, no retries, no heart."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import asyncpg

SCHEMA = """
CREATE TABLE hand (id bigserial PRIMARY KEY, state smallint NOT NULL DEFAULT 0, priority smallint NOT NULL DEFAULT 0,
  ready_at timestamptz NOT NULL DEFAULT now(), epoch bigint NOT NULL DEFAULT 0, leased_until timestamptz, payload jsonb) WITH (fillfactor = 80);
CREATE INDEX hand_ready ON hand (priority, ready_at, id) WHERE state = 0"""
CLAIM = """
WITH picked AS MATERIALIZED (SELECT id FROM hand WHERE state = 0 AND ready_at <= now() ORDER BY priority, ready_at, id LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE hand h SET state = 1, epoch = epoch + 1, leased_until = now() + interval '30 s' FROM picked p WHERE h.id = p.id RETURNING h.id, h.epoch, h.payload"""
ACK = """UPDATE hand h SET state = 2, epoch = h.epoch + 1, leased_until = NULL FROM unnest($1::bigint[], $2::bigint[]) v(id, epoch)
WHERE h.id = v.id AND h.epoch = v.epoch"""


def install(url: str) -> None:
    async def create() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(SCHEMA)
        await connection.close()

    asyncio.run(create())


async def enqueue_bulk(url: str, n: int) -> float:
    connection = await asyncpg.connect(url)
    started = time.perf_counter()
    for start in range(0, n, 1000):
        payloads = [f'{{"n": {k}}}' for k in range(start, min(n, start + 1000))]
        await connection.execute("INSERT INTO hand (payload) SELECT unnest($1::jsonb[])", payloads)
    elapsed = time.perf_counter() - started
    await connection.close()
    return elapsed


async def nothing(_: Any) -> None:
    pass


async def drain(url: str, n: int, batch: int = 100) -> float:
    claims, acks = await asyncpg.connect(url), await asyncpg.connect(url)
    taken: asyncio.Queue[list[Any]] = asyncio.Queue(maxsize=2)

    async def claim() -> None:
        while rows := await claims.fetch(CLAIM, batch):
            await taken.put(rows)
        await taken.put([])

    async def work() -> None:
        while rows := await taken.get():
            for row in rows:
                await nothing(row)
            await acks.execute(ACK, sorted(row["id"] for row in rows), [row["epoch"] for row in sorted(rows)])

    started = time.perf_counter()
    await asyncio.gather(claim(), work())
    elapsed = time.perf_counter() - started
    await claims.close()
    await acks.close()
    return elapsed


async def done(url: str, n: int) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM hand WHERE state = 2"))
    finally:
        await connection.close()
