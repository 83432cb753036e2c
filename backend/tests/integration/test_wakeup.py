"""How a worker learns of work: told by NOTIFY at once, by looking when nobody told it, and told again after a broken connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from glisk.engine.link import Link, LinkLost
from glisk.repositories.job_repository import JobRepository
from glisk.workflows import IMAGE_EDIT
from tests.builders import PROJECT, an_edit
from tests.cutter import Moment, cutter_before
from tests.engines import PACE, Recorder, at_work, finished

DEAF = replace(PACE, poll=timedelta(hours=1))  # it looks at its start and then not for an hour
LISTENING = "datname = current_database() AND query ILIKE 'LISTEN %glisk_told%'"
CUT = f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {LISTENING}"

pytestmark = pytest.mark.usefixtures("owners")


@pytest.fixture
async def jobs(database_url: str) -> AsyncIterator[JobRepository]:
    link = Link(database_url)
    yield JobRepository(link)
    await link.close()


async def until_listening(connection: Any) -> int:
    """The process id of the connection that listens. Its last statement says that it does."""
    while not (pid := await connection.fetchval(f"SELECT pid FROM pg_stat_activity WHERE {LISTENING}")):
        pass
    return int(pid)


async def told_one_by_one(jobs: JobRepository, connection: Any, already: int = 0) -> None:
    """Each is enqueued when the last one is over, so that none but its own notification can have found it."""
    for n in range(1, 6):
        await jobs.enqueue(an_edit())
        await finished(connection, already + n)


async def test_a_notification_starts_a_job_at_once(database_url: str, connection: Any, jobs: JobRepository) -> None:
    async with at_work(database_url, {"editing": Recorder()}, IMAGE_EDIT, pace=DEAF):
        await until_listening(connection)
        await told_one_by_one(jobs, connection)


async def test_a_job_that_nobody_told_of_is_found_by_looking(database_url: str, connection: Any) -> None:
    insert = "INSERT INTO jobs (workflow, user_id, project_id) VALUES ('image_edit', 'anna', $1)"
    async with at_work(database_url, {"editing": Recorder()}, IMAGE_EDIT):
        await until_listening(connection)
        for n in range(1, 6):
            await connection.execute(insert, PROJECT)
            await finished(connection, n)


async def test_a_worker_whose_listening_connection_is_cut_again_and_again_finds_its_jobs_by_looking(
    database_url: str, connection: Any, jobs: JobRepository
) -> None:
    async with at_work(database_url, {"editing": Recorder()}, IMAGE_EDIT):
        for n in range(1, 6):
            await until_listening(connection)
            await connection.fetchval(CUT)
            await jobs.enqueue(an_edit())
            await finished(connection, n)


async def test_a_worker_listens_again_after_its_connection_was_cut(
    database_url: str, connection: Any, jobs: JobRepository
) -> None:
    async with at_work(database_url, {"editing": Recorder()}, IMAGE_EDIT, pace=DEAF):
        before = await until_listening(connection)
        await connection.fetchval(CUT)
        await jobs.enqueue(an_edit())  # told to nobody, or to the new connection: found either way
        await finished(connection, 1)
        assert await until_listening(connection) != before
        await told_one_by_one(jobs, connection, already=1)


async def test_a_server_that_says_nothing_is_a_lost_link(database_url: str) -> None:
    async with cutter_before(database_url) as (cutter, url):
        cutter.aim({"SELECT 1 AS one"}, Moment.SLOW)
        link = Link(url, patience=0.2)
        with pytest.raises(LinkLost):
            await link.fetch("SELECT 1 AS one")
        assert await link.fetch("SELECT 2 AS two")
        await link.close()
        cutter.is_let_go.set()
