"""Jobs as people look at them: lists, one job with its timeline, the dead letters; and sending them on again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg

from glisk.engine import control, retention
from glisk.repositories.board import Board, in_batches
from glisk.repositories.job_repository import FIRST, key_in
from glisk.workflows import GOOD, JOBS, WORKFLOWS

LARGEST_ID = 2**63 - 1
# A workflow that we do not know may be one of tomorrow's, inserted already: it is told of, and not failed.
LIST = """
    SELECT id, job_id, workflow, status, priority, progress, retry_count, created_at, finished_at, error_message,
      CASE WHEN finished_at IS NOT NULL THEN NULL WHEN workflow <> ALL ($4::text[]) THEN 'no such workflow' WHEN paused_at IS NOT NULL THEN 'paused'
           WHEN leased_by IS NULL AND EXISTS (SELECT FROM paused_workflows p WHERE p.workflow = jobs.workflow) THEN 'workflow paused'
           WHEN dependency_count > 0 THEN 'waits for others' WHEN ready_at > now() THEN 'delayed' END AS note
    FROM jobs WHERE ($1::text IS NULL OR workflow = $1) AND ($2::text IS NULL OR status = $2)
      AND ($5::bigint IS NULL OR id < $5) ORDER BY id DESC LIMIT $3"""
# Along the indexes of what waits and of what is at work.
OPEN = """
    SELECT workflow, status, count(*) AS jobs FROM (
      SELECT workflow, status FROM jobs WHERE finished_at IS NULL AND leased_by IS NULL
      UNION ALL SELECT workflow, status FROM jobs WHERE leased_by IS NOT NULL) AS open
    GROUP BY workflow, status ORDER BY workflow, status"""
RETRYING = """
    SELECT id, job_id, workflow, status, retry_count, last_retry, ready_at AS next_try, error_message FROM (
      SELECT * FROM jobs WHERE finished_at IS NULL AND leased_by IS NULL UNION ALL SELECT * FROM jobs WHERE leased_by IS NOT NULL) AS open
    WHERE retry_count > 0 AND ($1::text IS NULL OR workflow = $1) ORDER BY ready_at, id LIMIT $2"""
DEAD = """
    SELECT id, job_id, workflow, status, finished_at, error_message FROM jobs
    WHERE (status = 'failed' OR status LIKE '%-failed') AND ($1::text IS NULL OR workflow = $1) ORDER BY id DESC LIMIT $2"""
ONE = "SELECT * FROM jobs WHERE id = $1 AND ($2::uuid IS NULL OR job_id = $2)"
# Where each ended: the state it was in last, active or (cancelled between two steps) waiting.
ENDED_IN = """
    SELECT j.id, j.workflow, (SELECT from_status FROM events e WHERE e.item_id = j.id ORDER BY event_id DESC LIMIT 1) AS last
    FROM jobs j WHERE j.id = ANY ($1::bigint[]) AND finished_at IS NOT NULL AND workflow = ANY ($2::text[])"""
STATES = "SELECT workflow, finished_at IS NULL AS is_open FROM jobs WHERE id = ANY ($1::bigint[])"


class JobBoard(Board):
    async def newest(
        self, workflow: str | None = None, status: str | None = None, limit: int = 50, before: int | None = None
    ) -> list[dict[str, Any]]:
        """`before`: older than this one."""
        return await self.listed(LIST, workflow, status, limit, list(FIRST), before)

    async def open(self) -> list[dict[str, Any]]:
        """How many are in each status of each workflow, of those that have not ended."""
        return await self.listed(OPEN)

    async def dead(self, workflow: str | None = None, limit: int = 1000) -> list[dict[str, Any]]:
        return await self.listed(DEAD, workflow, limit)

    async def retrying(self, workflow: str | None = None, limit: int = 1000) -> list[dict[str, Any]]:
        return await self.listed(RETRYING, workflow, limit)

    async def every_dead(self, workflow: str | None = None) -> list[int]:
        return sorted(row["id"] for row in await self.link.fetch(DEAD, workflow, None))

    async def find(self, key: str) -> dict[str, Any] | None:
        """By its public id or by the engine's."""
        try:
            job_id = None if key.isdecimal() else UUID(key)
        except ValueError:
            return None
        id = key_in(job_id) if job_id else min(int(key), LARGEST_ID)
        return next(iter(await self.listed(ONE, id, job_id)), None)

    async def retry(self, ids: Sequence[int], actor: str) -> list[int]:
        """Each goes back to the step it ended in, or to its first one. Only what has ended, in a workflow that is known,
        can be retried."""
        moved: list[int] = []
        for some in in_batches(ids):
            by_waiting: dict[str, list[int]] = defaultdict(list)
            for row in await self.link.fetch(ENDED_IN, list(some), list(FIRST)):
                by_waiting[waiting_for(row["workflow"], row["last"])].append(row["id"])
            for waiting, group in by_waiting.items():
                moved += await self.retry_or_leave(group, waiting, actor)
        return sorted(moved)

    async def retry_or_leave(self, ids: Sequence[int], waiting: str, actor: str) -> list[int]:
        """One that may not be open again, for what it lacks, must not hold up the others."""
        try:
            return await control.retry(self.link, JOBS, ids, waiting, actor)
        except asyncpg.IntegrityConstraintViolationError:
            singly = [await self.retry_or_leave([id], waiting, actor) for id in ids] if len(ids) > 1 else []
            return [id for some in singly for id in some]

    async def why_not_retried(self, ids: Sequence[int]) -> Counter[str]:
        """How many of those that were left, by the reason."""
        return Counter(why_left(row["workflow"], row["is_open"]) for row in await self.link.fetch(STATES, list(ids)))

    async def cancel(self, ids: Sequence[int], actor: str) -> list[int]:
        return await control.cancel(self.link, JOBS, ids, actor, GOOD)

    async def pause(self, ids: Sequence[int], actor: str) -> list[int]:
        return await control.pause(self.link, JOBS, ids, actor)

    async def resume(self, ids: Sequence[int], actor: str) -> list[int]:
        return await control.resume(self.link, JOBS, ids, actor)

    async def prune(self, keep: timedelta) -> int:
        """How many were deleted: those that ended longer ago than that."""
        return await retention.prune(self.link, JOBS, keep)


def waiting_for(workflow: str, last: str | None) -> str:
    flow = WORKFLOWS[workflow]
    return next((waiting for waiting in flow.steps if last in (waiting, flow.active(waiting))), FIRST[workflow])


def why_left(workflow: str, is_open: bool) -> str:
    if is_open:
        return "not ended yet"
    if workflow not in FIRST:
        return f"there is no workflow {workflow!r} of jobs"
    return "without what an open job of its workflow must have, or another has its unique key"
