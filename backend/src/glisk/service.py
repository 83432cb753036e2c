"""Puts the parts together: settings in, a database and workers out. What hosts the web server is in hosting.py, which takes longer
to load."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import TypeAlias, TypeVar

from glisk.db.server import require_head
from glisk.dev import data_dir, postgres
from glisk.engine import retention
from glisk.engine.link import Link, LinkLost
from glisk.engine.periodic import Periodic
from glisk.engine.worker import Worker
from glisk.errors import DatabaseUnreachable
from glisk.repositories import deliveries, sweeping
from glisk.settings import Settings
from glisk.storage.objects import Objects
from glisk.telling.running import beside
from glisk.values import without_passwords
from glisk.workers import process
from glisk.workers.staffing import Crew, make_lanes
from glisk.workers.supervisor import Command, supervise
from glisk.workflows import JOBS

T = TypeVar("T")
Say: TypeAlias = Callable[[str, float], None]  # a part that is up, and the seconds it took


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """The operator's PostgreSQL, else the embedded one."""
    if url := settings.database_url.get_secret_value():
        yield url
    else:
        data_dir.prepare(settings.data_dir)
        with postgres.running(settings.data_dir / "postgres") as url:
            yield url


def prepare_objects(settings: Settings) -> None:
    """Where pictures are kept in a directory of ours, that is known as ours."""
    if not settings.s3_bucket:
        data_dir.prepare(settings.data_dir)


def over_a_link(settings: Settings, action: Callable[[Link], Awaitable[T]]) -> T:
    """For a command that does one thing on a schema that somebody else has migrated."""
    with database(settings) as url:
        return asyncio.run(once(url, action))


async def once(url: str, action: Callable[[Link], Awaitable[T]]) -> T:
    await require_head(url)
    link = Link(url)
    try:
        return await action(link)
    except LinkLost as error:
        raise DatabaseUnreachable(
            f"{error}. What was asked for may have been done: look before you repeat it."
        ) from error
    finally:
        await link.close()


def work(settings: Settings, crew: Crew, child: Command, say: Say) -> None:
    """Workers alone, on a schema that somebody else has migrated, until a signal."""
    for workflow, processes in crew.served().items():
        say(f"{workflow}: {', '.join(processes)}", 0)
    with timed(say, where_database(settings)) as done, database(settings) as url:
        asyncio.run(once(url, lambda link: make_lanes(link, crew.staff)))
        done()
        say(f"{crew.size} (Ctrl-C stops)", 0)
        if crew.size.maximum == 1:
            run_worker(settings, url, crew, process.name_of(os.getpid()))
        else:
            asyncio.run(beside(url, settings, supervise(url, crew, child)))


def work_for_supervisor(settings: Settings, crew: Crew) -> None:
    """One of its processes. It uses the database on its own, so that it can finish even when the supervisor is gone."""
    name = f"{process.crew_of(os.getppid())}{os.getpid()}"
    with database(settings) as url:
        asyncio.run(require_head(url))
        run_worker(settings, url, crew, name, is_supervised=True)


def run_worker(settings: Settings, url: str, crew: Crew, name: str, *, is_supervised: bool = False) -> None:
    worker = worker_of(settings, url, crew, name)
    aside = None if is_supervised else partial(beside, url, settings)
    process.run(worker, partial(timetable, settings, crew), crew.close, aside, is_supervised=is_supervised)


def worker_of(settings: Settings, url: str, crew: Crew, name: str) -> Worker:
    return Worker(url, crew.staff, name, crew.pace, settings.pooler_url.get_secret_value())


def timetable(settings: Settings, crew: Crew, link: Link) -> list[Periodic]:
    """What comes again and again, beside the work."""
    keep, grace = timedelta(days=settings.keep_jobs_days), timedelta(seconds=settings.result_grace)
    return [
        *retention.works(link, JOBS, keep),
        *deliveries.works(link, grace),
        *sweeping.works(link, Objects.of(settings), grace),
        *crew.works(link),
    ]


def where_database(settings: Settings) -> str:
    if settings.database_url.get_secret_value():
        return f"PostgreSQL at {without_passwords(settings.database_url.get_secret_value())}"
    return f"PostgreSQL, embedded, in {settings.shown_dir / 'postgres'}"


@contextmanager
def timed(say: Say, part: str) -> Iterator[Callable[[], None]]:
    """Says that the part is up when the block calls what it is given."""
    started = time.monotonic()
    yield lambda: say(part, time.monotonic() - started)
