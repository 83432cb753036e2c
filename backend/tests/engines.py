"""A workflow of two steps, processors that do as they are told, and workers around them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Verdict
from glisk.engine.lanes import Lane
from glisk.engine.worker import Pace, Station, Worker
from glisk.engine.workflow import Backoff, Step, Workflow
from glisk.workflows import JOBS

QUICK = Backoff(first=timedelta(milliseconds=1), cap=timedelta(milliseconds=1))
DEMO = Workflow(
    "demo",
    JOBS,
    {"pending": Step("first", "halfway", max_attempts=3, backoff=QUICK), "halfway": Step("second", "completed")},
)
ONE_STEP = Workflow("simple", JOBS, {"pending": Step("only", "completed", max_attempts=3, backoff=QUICK)})
PACE = Pace(concurrency=50, batch=20, lease=timedelta(seconds=1), poll=timedelta(milliseconds=100))


class Recorder:
    """Counts who worked on what, and answers with `behave` (by default: done)."""

    lane: str | None = None

    def __init__(self, behave: Callable[[Claim], Awaitable[Verdict]] | None = None) -> None:
        self.runs: Counter[int] = Counter()
        self.started = asyncio.Event()
        self.behave = behave

    async def run(self, claim: Claim) -> Verdict:
        self.runs[claim.id] += 1
        self.started.set()
        return await self.behave(claim) if self.behave else Done()


@asynccontextmanager
async def at_work(
    url: str,
    processors: Mapping[str, Any],
    workflow: Workflow = ONE_STEP,
    name: str = "w",
    pace: Pace = PACE,
    pooler: str = "",
    lane: Lane | None = None,
) -> AsyncIterator[Worker]:
    stations = [Station(workflow, waiting, processors[step.process], lane) for waiting, step in workflow.steps.items()]
    worker = Worker(url, stations, name, pace, pooler)
    async with running(worker):
        yield worker


@asynccontextmanager
async def running(worker: Worker) -> AsyncIterator[None]:
    """Told to stop at the end, and waited for."""
    task = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await task


async def enqueue(connection: Any, n: int, workflow: Workflow = ONE_STEP, columns: str = "") -> list[int]:
    rows = await connection.fetch(
        f"INSERT INTO jobs (workflow{', ' + columns.partition('=')[0] if columns else ''}) "
        f"SELECT $1{', ' + columns.partition('=')[2] if columns else ''} FROM generate_series(1, $2::int) RETURNING id",
        *(workflow.name, n),
    )
    return [row["id"] for row in rows]


async def finished(connection: Any, n: int = 1) -> dict[int, str]:
    """Waits until so many jobs have ended."""
    await true(connection, f"SELECT count(*) >= {n} FROM jobs WHERE finished_at IS NOT NULL")
    rows = await connection.fetch("SELECT id, status FROM jobs WHERE finished_at IS NOT NULL")
    return {row["id"]: row["status"] for row in rows}


async def true(connection: Any, query: str) -> None:
    """Waits until the database says yes, on a connection that is `watched`; the test's timeout is the limit."""
    heard = asyncio.Event()

    def hear(*_: Any) -> None:
        heard.set()

    await connection.add_listener("glisk_test", hear)  # before the first look: what happens after it is heard
    try:
        while not await connection.fetchval(query):
            await heard.wait()
            heard.clear()
    finally:
        await connection.remove_listener("glisk_test", hear)
