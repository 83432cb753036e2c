"""What a job may know of others: those that it waited for, and the one that it tells of."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from glisk.engine.store import Fetch
from glisk.repositories.job_repository import key_in

COLUMNS = "p.id, p.job_id, p.workflow, p.name, p.status, p.result, p.error_message, p.finished_at"
PARENTS = f"""
    SELECT {COLUMNS} FROM job_dependencies d JOIN jobs p ON p.id = d.parent_id
    WHERE d.child_id = $1 ORDER BY p.id"""  # noqa: S608 -- columns of our own
# Of the same owner: what a job is told to tell of must not be somebody else's.
ONE = f"""
    SELECT {COLUMNS} FROM jobs p JOIN jobs c ON c.id = $3 AND c.user_id IS NOT DISTINCT FROM p.user_id
    WHERE p.id = $1 AND p.job_id = $2"""  # noqa: S608


class Relative(Struct, frozen=True):
    id: int
    job_id: UUID
    workflow: str
    name: str | None
    status: str
    result: Any
    error: str | None
    finished_at: datetime | None


async def parents_of(fetch: Fetch, id: int) -> list[Relative]:
    """In the order in which they were made."""
    return [relative(row) for row in await fetch(PARENTS, id)]


async def told_of(fetch: Fetch, job_id: UUID, by: int) -> Relative | None:
    """None: it is not there any more, or it is another owner's."""
    rows = await fetch(ONE, key_in(job_id), job_id, by)
    return relative(rows[0]) if rows else None


def relative(row: Any) -> Relative:
    result = msgspec.json.decode(row["result"]) if row["result"] else None
    known = (row["id"], row["job_id"], row["workflow"], row["name"], row["status"])
    return Relative(*known, result, row["error_message"], row["finished_at"])
