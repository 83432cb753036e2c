"""A user's jobs as they see them: one, all page after page, and how several stand now."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from glisk.repositories.job_repository import key_in
from glisk.repositories.own import Own

ONE = """
    SELECT jobs.*, shown(jobs) AS shown, (SELECT p.job_id FROM jobs p WHERE p.id = jobs.parent_job_id) AS parent FROM jobs
    WHERE id = $1 AND job_id = $2"""
# A user's along their index, everybody's along the key. Those that only tell of others are shown when they are asked for.
OF_ONE = """
    SELECT jobs.*, shown(jobs) AS shown, (SELECT p.job_id FROM jobs p WHERE p.id = jobs.parent_job_id) AS parent FROM jobs
    WHERE user_id = $1 AND ($2::text IS NULL OR shown(jobs) = $2) AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::bigint))
      AND CASE WHEN $6::text IS NULL THEN workflow <> 'webhook' ELSE name = $6 END
    ORDER BY created_at DESC, id DESC LIMIT $5"""
OF_ALL = """
    SELECT jobs.*, shown(jobs) AS shown, (SELECT p.job_id FROM jobs p WHERE p.id = jobs.parent_job_id) AS parent FROM jobs
    WHERE $1::text IS NULL AND ($2::text IS NULL OR shown(jobs) = $2) AND ($3::timestamptz IS NULL OR id < $4::bigint)
      AND CASE WHEN $6::text IS NULL THEN workflow <> 'webhook' ELSE name = $6 END
    ORDER BY id DESC LIMIT $5"""
STANDING = """
    SELECT id, shown(jobs) AS shown, progress, error_message, finished_at IS NOT NULL AS is_over FROM jobs
    WHERE id = ANY ($1::bigint[])"""


class Place(Struct, frozen=True):
    """In the list: behind the job that was made then."""

    created_at: datetime
    id: int


class Wanted(Struct, frozen=True):
    """`of`: whose. None: everybody's."""

    limit: int
    of: str | None = None
    status: str | None = None
    name: str | None = None
    below: Place | None = None


class Standing(Struct, frozen=True):
    """What of a job changes while it is worked on."""

    status: str
    progress: int
    error: str | None
    is_over: bool


class JobView:
    def __init__(self, own: Own) -> None:
        self.own = own

    async def one(self, user_id: str | None, job_id: UUID) -> dict[str, Any] | None:
        return await self.own.one(user_id, ONE, key_in(job_id), job_id)

    async def page(self, user_id: str | None, wanted: Wanted) -> list[dict[str, Any]]:
        """The newest first."""
        after = (wanted.below.created_at, wanted.below.id) if wanted.below else (None, None)
        terms = (wanted.of, wanted.status, *after, wanted.limit, wanted.name)
        return [dict(row) for row in await self.own.fetch(user_id, OF_ONE if wanted.of else OF_ALL, *terms)]

    async def standing(self, ids: Collection[int]) -> dict[int, Standing]:
        """Of jobs that whoever asks was shown already. One that is gone is not among them."""
        return {
            row["id"]: Standing(*list(row.values())[1:]) for row in await self.own.fetch(None, STANDING, sorted(ids))
        }
