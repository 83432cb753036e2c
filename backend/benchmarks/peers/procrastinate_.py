"""procrastinate through its own API, at its best concurrency."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import procrastinate

from benchmarks.peers.actions import Handle, Send

logging.disable(logging.CRITICAL)


async def nothing(_: int) -> None:
    pass


def an_app(url: str, handle: Handle = nothing, connections: int = 60) -> procrastinate.App:
    connector = procrastinate.PsycopgConnector(conninfo=url, min_size=min(4, connections), max_size=connections)
    app = procrastinate.App(connector=connector)

    @app.task(name="noop", queue="noop")
    async def noop(n: int) -> None:
        await handle(n)

    return app


def install(url: str) -> None:
    async def create() -> None:
        async with (app := an_app(url)).open_async():
            await app.schema_manager.apply_schema_async()

    asyncio.run(create())


async def enqueue_bulk(url: str, n: int) -> float:
    async with (app := an_app(url)).open_async():
        started = time.perf_counter()
        for start in range(0, n, 1000):
            await app.tasks["noop"].batch_defer_async(*({"n": k} for k in range(start, min(n, start + 1000))))
        return time.perf_counter() - started


@asynccontextmanager
async def sending(url: str, connections: int) -> AsyncIterator[Send]:
    async with (app := an_app(url, connections=connections)).open_async():
        yield lambda k: app.tasks["noop"].defer_async(n=k)


@asynccontextmanager
async def working(url: str, handle: Handle) -> AsyncIterator[None]:
    async with (app := an_app(url, handle)).open_async():
        running = asyncio.create_task(app.run_worker_async(concurrency=1000, install_signal_handlers=False))
        yield
        running.cancel()  # its way to be stopped: what is under way ends first
        with suppress(asyncio.CancelledError):
            await running


async def drain(url: str, n: int, concurrency: int = 50) -> float:
    async with (app := an_app(url)).open_async():
        started = time.perf_counter()
        await app.run_worker_async(concurrency=concurrency, wait=False, install_signal_handlers=False)
        return time.perf_counter() - started


async def done(url: str, n: int) -> int:
    async with (app := an_app(url)).open_async():
        rows = await app.connector.execute_query_all_async(
            "SELECT count(*) AS n FROM procrastinate_jobs WHERE status = 'succeeded'"
        )
        return int(rows[0]["n"])
