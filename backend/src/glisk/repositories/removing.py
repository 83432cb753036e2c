"""Removes a project, a conversation or a user, with all that belongs to it. Whoever works for one of its jobs is put out."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from glisk.engine import wakeup
from glisk.engine.link import Link

Kind: TypeAlias = Literal["project", "conversation", "user"]

# Locked in the order of their ids, as everywhere.
JOBS: dict[Kind, str] = {
    "project": "SELECT id FROM jobs WHERE project_id = $1 ORDER BY id FOR UPDATE",
    "conversation": "SELECT id FROM jobs WHERE conversation_id = $1 ORDER BY id FOR UPDATE",
    "user": "SELECT id FROM jobs WHERE user_id = $1 ORDER BY id FOR UPDATE",
}
REMOVE: dict[Kind, str] = {
    "project": "DELETE FROM projects WHERE project_id = $1 RETURNING user_id",
    "conversation": "DELETE FROM conversations WHERE conversation_id = $1 RETURNING user_id",
    "user": "DELETE FROM users WHERE user_id = $1 RETURNING user_id",
}
FORGET = "DELETE FROM events WHERE item_id = ANY ($1::bigint[])"
TELL = """
    INSERT INTO events (to_status, actor, data) VALUES ($1, $2, jsonb_build_object('id', $3::text, 'user_id', $4::text, 'jobs', $5::int))"""


async def remove(link: Link, kind: Kind, id: Any, actor: str) -> bool:
    """Whether it was there. What was paid for its jobs stays in the ledger; pictures that nobody else has are deleted later."""
    async with link.transaction() as fetch:
        jobs = [row["id"] for row in await fetch(JOBS[kind], id)]
        if not (gone := await fetch(REMOVE[kind], id)):
            return False
        await fetch(FORGET, jobs)
        await fetch(TELL, f"{kind} removed", actor, str(id), gone[0]["user_id"], len(jobs))
        await fetch("SELECT pg_notify($1, '')", wakeup.LOST)
        await wakeup.notify(fetch, "")  # who waited for one of them waits no longer
    return True
