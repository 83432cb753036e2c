"""procrastinate through its own API, at its best concurrency."""

from __future__ import annotations

import asyncio
import logging
import time

import procrastinate

logging.disable(logging.CRITICAL)


def an_app(url: str) -> procrastinate.App:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, max_size=60))

    @app.task(name="noop", queue="noop")
    async def noop(n: int) -> None:
        pass

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


async def drain(url: str, n: int, concurrency: int = 50) -> float:
    async with (app := an_app(url)).open_async():
        started = time.perf_counter()
        await app.run_worker_async(concurrency=concurrency, wait=False, install_signal_handlers=False)
        return time.perf_counter() - started


async def done(url: str) -> int:
    async with (app := an_app(url)).open_async():
        rows = await app.connector.execute_query_all_async(
            "SELECT count(*) AS n FROM procrastinate_jobs WHERE status = 'succeeded'"
        )
        return int(rows[0]["n"])
