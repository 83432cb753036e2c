"""Glisk's engine at its full promises: lease, fence and an event row for every job."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from benchmarks.peers.actions import Handle, Send
from glisk.db import migrate
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Verdict
from glisk.engine.link import Link
from glisk.engine.store import Decided
from glisk.engine.worker import Pace, Station, Worker
from glisk.engine.workflow import Step, Workflow
from glisk.repositories.job_repository import JobRepository, NewJob
from glisk.workers.process import spare_the_collector
from glisk.workflows import JOBS

NOOP = Workflow("danbooru_tagger", JOBS, {"pending": Step("nothing", "completed")})


class Nothing:
    lane: str | None = None

    async def run(self, claim: Claim) -> Verdict:
        return Done()


class Handled:
    lane: str | None = None

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    async def run(self, claim: Claim) -> Verdict:
        await self.handle(json.loads(claim.row["payload"])["n"])
        return Done()


def install(url: str) -> None:
    migrate.upgrade(url)


async def enqueue_bulk(url: str, n: int) -> float:
    link = Link(url)
    await link.opened()
    jobs = [NewJob(NOOP.name, {"n": k}) for k in range(n)]
    started = time.perf_counter()
    for start in range(0, n, 1000):
        await JobRepository(link).enqueue_many(jobs[start : start + 1000])
    elapsed = time.perf_counter() - started
    await link.close()
    return elapsed


@asynccontextmanager
async def sending(url: str, connections: int) -> AsyncIterator[Send]:
    """On one connection, however many the callers are: the repository commits for all of them together."""
    link = Link(url)
    repository = JobRepository(link)
    yield lambda k: repository.enqueue(NewJob(NOOP.name, {"n": k}))
    await link.close()


@asynccontextmanager
async def working(url: str, handle: Handle) -> AsyncIterator[None]:
    spare_the_collector()
    worker = Worker(url, [Station(NOOP, "pending", Handled(handle))], "bench", Pace(concurrency=1000))
    running = asyncio.create_task(worker.run())
    yield
    worker.stop()
    await running


async def drain(url: str, n: int, batch: int = 100) -> float:
    spare_the_collector()
    worker = Worker(url, [Station(NOOP, "pending", Nothing())], "bench", Pace(concurrency=6 * batch, batch=batch))
    left, over, settled = n, asyncio.Event(), worker.settled

    def count(group: Sequence[Decided]) -> None:
        nonlocal left
        settled(group)
        left -= len(group)
        if left <= 0:
            over.set()

    worker.settler.on_settled = count
    for link in (worker.link, worker.settler.link):
        await link.opened()  # as by hand: the clock starts with the work
    started = time.perf_counter()
    running = asyncio.create_task(worker.run())
    await over.wait()
    elapsed = time.perf_counter() - started
    worker.stop()
    await running
    return elapsed


async def done(url: str, n: int) -> int:
    link = Link(url)
    try:
        return int((await link.fetch("SELECT count(*) AS n FROM jobs WHERE status = 'completed'"))[0]["n"])
    finally:
        await link.close()
