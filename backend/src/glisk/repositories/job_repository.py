"""Jobs as people ask for them: enqueue one or many, with priority, delay, a unique key, and others to wait for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec
from asyncpg.pgproto.pgproto import UUID as PgUUID
from msgspec import Struct

from glisk.engine import wakeup
from glisk.engine.link import Link, Transaction
from glisk.engine.options import MOST_ATTEMPTS, Options
from glisk.engine.statements import statement
from glisk.engine.store import Fetch, encode
from glisk.engine.together import Together
from glisk.errors import BadOptions, TooManyJobs, UnknownParent, UnknownWorkflow
from glisk.repositories.refusal import REFUSED, is_in_time, refusal
from glisk.workflows import GOOD, JOBS, WORKFLOWS

OPEN_JOBS = "SELECT count(*) AS n FROM (SELECT FROM jobs WHERE user_id = $1 AND finished_at IS NULL LIMIT $2) x"
# Two callers of one user at once would both see room for one more.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
COPIED = (
    *("id", "job_id", "workflow", "status", "payload", "priority"),
    *("name", "user_id", "conversation_id", "project_id", "opts", "max_attempts"),
)
FIRST = {name: next(iter(flow.steps)) for name, flow in WORKFLOWS.items() if flow.table is JOBS}
VERSION_BITS, VERSION_4 = 0xF << 76 | 0x3 << 62, 0x4 << 76 | 0x2 << 62
WORTH_COPYING = 200
ON_FAILURE, OBJECT = frozenset({"fail", "ignore"}), ord("{")
OPEN_KEYS = "SELECT unique_key FROM jobs WHERE unique_key = ANY ($1::text[]) AND finished_at IS NULL"
ENDS = "SELECT id, status FROM jobs WHERE id = ANY ($1::bigint[])"


@dataclass(frozen=True, slots=True)
class NewJob:
    """What a caller may say of a job. The workflow is the server's choice, never the client's."""

    workflow: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    priority: int = 0
    delay: timedelta | None = None
    unique_key: str | None = None
    name: str | None = None
    user_id: str | None = None
    conversation_id: str | None = None
    project_id: UUID | None = None
    opts: Mapping[str, Any] | None = None
    max_attempts: int | None = None
    parents: Sequence[int] = ()
    on_failure: Literal["fail", "ignore"] = "fail"


class Enqueued(Struct, frozen=True):
    id: int
    job_id: UUID
    created: bool  # False: there was one with the same unique key already


class JobRepository:
    def __init__(self, link: Link, most_per_user: int | None = None) -> None:
        self.link, self.most_per_user = link, most_per_user
        self.enqueue_together = Together(self.enqueue_many)

    async def enqueue(self, job: NewJob) -> Enqueued:
        """Callers at the same time share a transaction; each hears of its own job, or of what is wrong with it."""
        return await self.enqueue_together(job)

    async def enqueue_many(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """All or none, with one notification a workflow. Not chained to the database's own error, which shows the row."""
        try:
            return await self.write(jobs) if jobs else []
        except REFUSED as error:
            raise refusal(jobs, error) from None

    async def write(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        jobs = [job if job.opts is None else with_options(job) for job in jobs]
        if not can_be_copied(jobs) and not any(job.parents or self.is_limited(job) for job in jobs):
            return await insert(self.link.fetch, jobs)  # one statement, so no transaction around it
        async with self.link.transaction() as transaction:
            return await self.write_in(transaction, jobs)

    async def write_in(self, transaction: Transaction, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """In a transaction of the caller's, who has read the options."""
        for user in sorted({job.user_id for job in jobs if job.user_id and self.is_limited(job)}):
            await self.check_room(transaction, user, [job for job in jobs if job.user_id == user])
        enqueued = await (copy(transaction, jobs) if can_be_copied(jobs) else insert(transaction, jobs))
        for job, row in zip(jobs, enqueued, strict=True):
            if job.parents and row.created:
                await depend(transaction, row.id, job)
        return enqueued

    def is_limited(self, job: NewJob) -> bool:
        return job.user_id is not None and self.most_per_user is not None

    async def check_room(self, fetch: Fetch, user: str, jobs: Sequence[NewJob]) -> None:
        most = self.most_per_user or 0
        await fetch(ONE_AT_A_TIME, user)
        (row,) = await fetch(OPEN_JOBS, user, most + 1)
        if row["n"] + len(jobs) > most and (more := await how_many_new(fetch, jobs)) and row["n"] + more > most:
            raise TooManyJobs(f"{user} has {row['n']} of {most} open jobs.")


async def how_many_new(fetch: Fetch, jobs: Sequence[NewJob]) -> int:
    """One whose key an open job has already, or another of this call, adds nothing."""
    keys = {job.unique_key for job in jobs if job.unique_key is not None}
    taken = {row["unique_key"] for row in await fetch(OPEN_KEYS, sorted(keys))}
    return sum(job.unique_key is None for job in jobs) + len(keys - taken)


def with_options(job: NewJob) -> NewJob:
    """What the caller said outright stands above what is in `opts`."""
    try:
        options = msgspec.convert(job.opts, Options)
    except msgspec.ValidationError as error:
        raise BadOptions(f"{error}.") from error
    delay = None if options.delay is None else timedelta(milliseconds=options.delay)
    return replace(
        job,
        delay=delay if job.delay is None else job.delay,
        priority=job.priority or options.priority or 0,
        max_attempts=options.attempts if job.max_attempts is None else job.max_attempts,
    )


def can_be_copied(jobs: Sequence[NewJob]) -> bool:
    """Nothing can be in the way, nothing needs the database's clock, and they are enough to be worth its round trips."""
    return len(jobs) >= WORTH_COPYING and not any(job.unique_key is not None or job.delay for job in jobs)


async def copy(transaction: Transaction, jobs: Sequence[NewJob]) -> list[Enqueued]:
    """The fast road for many, with the ids drawn beforehand."""
    drawn = await transaction("SELECT nextval('work_id') FROM generate_series(1, $1::int)", len(jobs))
    ids = [row[0] for row in drawn]
    enqueued = [Enqueued(id, job_id, created=True) for id, job_id in zip(ids, new_job_ids(ids), strict=True)]
    rows = [(place.id, place.job_id, *as_columns(job)) for place, job in zip(enqueued, jobs, strict=True)]
    await transaction.copy(JOBS.name, COPIED, rows)
    for workflow in sorted({job.workflow for job in jobs}):
        await wakeup.notify(transaction, workflow)
    return enqueued


def new_job_ids(ids: Sequence[int]) -> Iterator[UUID]:
    """As the database's new_job_id() makes them: the key in the last seven bytes, the rest random, version 4."""
    noise = os.urandom(9 * len(ids))
    for n, id in enumerate(ids):
        raw = int.from_bytes(noise[9 * n : 9 * n + 9]) << 56 | id
        yield PgUUID((raw & ~VERSION_BITS | VERSION_4).to_bytes(16))


def key_in(job_id: UUID) -> int:
    return int.from_bytes(job_id.bytes[9:], "big")


async def insert(fetch: Fetch, jobs: Sequence[NewJob]) -> list[Enqueued]:
    """One statement cannot meet the same key twice, so of several with one key in this call the first is written. In the
    order of the keys: else two calls that share some would deadlock."""
    keys = [n if job.unique_key is None else job.unique_key for n, job in enumerate(jobs)]
    first = {keys[n]: n for n in reversed(range(len(jobs)))}
    written = sorted(sorted(first.values()), key=lambda n: jobs[n].unique_key or "")
    rows = [(*as_columns(jobs[n]), jobs[n].delay, jobs[n].unique_key) for n in written]
    columns = map(list, zip(*rows, strict=True))
    found = dict(zip(written, await fetch(statement("enqueue", JOBS), *columns, wakeup.WORK), strict=True))
    places = [(n, first[key]) for n, key in enumerate(keys)]
    rows_of = [(n, place, found[place]) for n, place in places]
    return [Enqueued(row["id"], row["job_id"], row["created"] and place == n) for n, place, row in rows_of]


def as_columns(job: NewJob) -> tuple[Any, ...]:
    """In the order of COPIED, from the workflow on. Only what the database would not notice is checked here, in few
    words: it is asked of every job."""
    status, payload = FIRST.get(job.workflow), encode(job.payload)
    if status is None:
        raise UnknownWorkflow(f"Seen: {job.workflow!r}.")
    is_plain = job.delay is None and job.max_attempts is None
    if payload[0] != OBJECT or job.on_failure not in ON_FAILURE or not (is_plain or is_within_bounds(job)):
        raise ValueError("a closer look will tell")
    opts = None if job.opts is None else encode(job.opts).decode()
    owners = job.user_id, job.conversation_id, job.project_id
    return job.workflow, status, payload.decode(), job.priority, job.name, *owners, opts, job.max_attempts


def is_within_bounds(job: NewJob) -> bool:
    return is_in_time(job.delay) and (job.max_attempts is None or 1 <= job.max_attempts <= MOST_ATTEMPTS)


async def depend(fetch: Fetch, child: int, job: NewJob) -> None:
    """Parents that have ended well already hold nobody up."""
    waits = {
        row["parent_id"] for row in await fetch(statement("depend", JOBS), child, list(job.parents), job.on_failure)
    }
    ended = {row["id"]: row["status"] for row in await fetch(ENDS, [id for id in job.parents if id not in waits])}
    for parent in set(job.parents) - waits:
        if parent not in ended or (job.on_failure == "fail" and ended[parent] not in GOOD):
            raise UnknownParent(f"Job {parent} {'is ' + ended[parent] if parent in ended else 'does not exist'}.")
    if ended:
        await fetch(statement("depended", JOBS), child, sorted(ended), job.on_failure)
