"""A user's projects: a picture, and what became of it. How one stands is told by its latest edit, and stored nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from glisk.engine.workflow import FAILED
from glisk.repositories import users
from glisk.repositories.own import Own
from glisk.workflows import IMAGE_EDIT

MAKE = "INSERT INTO projects (user_id, project_type, original_image_url) VALUES ($1, $2, $3) RETURNING project_id"
# The newest first: those that are named, or a page of one user's, or of everybody's.
SHOWN = """
    SELECT p.project_id, p.user_id, p.project_type, p.original_image_url, p.generated_image_url, p.generated_image_urls,
      p.created_at, GREATEST(p.updated_at, j.updated_at) AS updated_at,
      j.job_id, j.status, j.finished_at, j.error_message, COALESCE(j.progress, 0) AS progress
    FROM projects p LEFT JOIN LATERAL (
      SELECT * FROM jobs WHERE jobs.project_id = p.project_id AND jobs.workflow = $1 ORDER BY created_at DESC, id DESC LIMIT 1) j ON true
    WHERE ($2::uuid[] IS NULL OR p.project_id = ANY ($2)) AND ($3::text IS NULL OR p.user_id = $3)
      AND ($4::timestamptz IS NULL OR (p.created_at, p.project_id) < ($4, $5::uuid))
    ORDER BY p.created_at DESC, p.project_id DESC LIMIT $6"""


class Place(Struct, frozen=True):
    """In the list: behind the project that was made then."""

    created_at: datetime
    project_id: UUID


class Project(Struct, frozen=True):
    """`job_*`: of its latest edit, if there was one and it is not forgotten yet."""

    project_id: UUID
    user_id: str
    project_type: str | None
    original_image_url: str | None
    generated_image_url: str | None
    generated_image_urls: list[str] | None
    created_at: datetime
    updated_at: datetime
    job_id: UUID | None
    job_status: str | None
    job_finished_at: datetime | None
    job_error: str | None
    progress: int

    @property
    def status(self) -> str:
        if self.job_status is None:
            return "completed" if self.generated_image_url else "draft"
        if self.job_finished_at is None:
            return "processing"
        return FAILED if self.job_status == FAILED else "completed"


class ProjectRepository:
    def __init__(self, own: Own) -> None:
        self.own = own

    async def make(self, user_id: str, project_type: str | None, original: str | None) -> UUID:
        async with self.own.link.transaction() as fetch:
            await users.know(fetch, user_id)
            (row,) = await fetch(MAKE, user_id, project_type, original)
        return UUID(bytes=row["project_id"].bytes)

    async def one(self, user_id: str | None, project_id: UUID) -> Project | None:
        return next(iter(await self.shown(user_id, [project_id], None, None, 1)), None)

    async def page(self, user_id: str | None, of: str | None, below: Place | None, limit: int) -> list[Project]:
        return await self.shown(user_id, None, of, below, limit)

    async def some(self, ids: Sequence[UUID]) -> list[Project | None]:
        """How projects stand that whoever asks was shown already. None: it is gone."""
        found = {each.project_id: each for each in await self.shown(None, list(set(ids)), None, None, len(ids))}
        return [found.get(id) for id in ids]

    async def shown(
        self, user_id: str | None, ids: list[UUID] | None, of: str | None, below: Place | None, limit: int
    ) -> list[Project]:
        after: tuple[Any, Any] = (below.created_at, below.project_id) if below else (None, None)
        rows = await self.own.fetch(user_id, SHOWN, IMAGE_EDIT.name, ids, of, *after, limit)
        return [Project(*row) for row in rows]
