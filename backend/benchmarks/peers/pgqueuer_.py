"""pgqueuer through its own API, at its best tuning: batches of 100, one manager or two."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
from pgqueuer import AsyncpgDriver, AsyncpgPoolDriver, Job, Queries, QueueManager
from pgqueuer.types import QueueExecutionMode

from benchmarks.peers.actions import Handle, Send

logging.disable(logging.CRITICAL)


def install(url: str) -> None:
    async def create() -> None:
        connection = await asyncpg.connect(url)
        await Queries(AsyncpgDriver(connection)).install()
        await connection.close()

    asyncio.run(create())


async def enqueue_bulk(url: str, n: int) -> float:
    connection = await asyncpg.connect(url)
    queries = Queries(AsyncpgDriver(connection))
    started = time.perf_counter()
    for start in range(0, n, 1000):
        size = min(1000, n - start)
        await queries.enqueue(["noop"] * size, [b'{"n": 1}'] * size, [0] * size)
    elapsed = time.perf_counter() - started
    await connection.close()
    return elapsed


@asynccontextmanager
async def sending(url: str, connections: int) -> AsyncIterator[Send]:
    """On five at most: more of them only queue up for the lock that a notifying commit holds."""
    size = min(connections, 5)
    async with asyncpg.create_pool(url, min_size=size, max_size=size) as pool:
        queries = Queries(AsyncpgPoolDriver(pool))
        yield lambda k: queries.enqueue("noop", b'{"n": %d}' % k)


@asynccontextmanager
async def working(url: str, handle: Handle) -> AsyncIterator[None]:
    connection = await asyncpg.connect(url)
    queue = QueueManager(Queries(AsyncpgDriver(connection)))

    @queue.entrypoint("noop")
    async def work(job: Job) -> None:
        await handle(json.loads(job.payload)["n"])

    running = asyncio.create_task(queue.run(batch_size=100))
    yield
    queue.shutdown.set()
    await running
    await connection.close()


async def drain(url: str, n: int, batch: int = 100, managers: int = 1) -> float:
    connections = [await asyncpg.connect(url) for _ in range(managers)]
    queues = [QueueManager(Queries(AsyncpgDriver(connection))) for connection in connections]
    for queue in queues:

        @queue.entrypoint("noop")
        async def nothing(job: Job) -> None:
            pass

    started = time.perf_counter()
    await asyncio.gather(
        *(queue.run(timedelta(seconds=0.1), batch_size=batch, mode=QueueExecutionMode.drain) for queue in queues)
    )
    elapsed = time.perf_counter() - started
    for connection in connections:
        await connection.close()
    return elapsed


async def done(url: str, n: int) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'"))
    finally:
        await connection.close()
