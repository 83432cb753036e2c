"""A user's conversations, to which their LLM jobs belong (seed 001)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias
from uuid import uuid4

from msgspec import Struct

from glisk.errors import ConversationTaken
from glisk.repositories import users
from glisk.repositories.own import Own

Type: TypeAlias = Literal["dm", "project_channel"]
MAKE = "INSERT INTO conversations (conversation_id, type, user_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
SHOWN = """
    SELECT conversation_id, type, user_id FROM conversations
    WHERE ($1::text IS NULL OR conversation_id = $1) AND ($2::text IS NULL OR user_id = $2)
      AND ($3::text IS NULL OR conversation_id > $3)
    ORDER BY conversation_id LIMIT $4"""
JOBS = """
    SELECT jobs.*, shown(jobs) AS shown, (SELECT p.job_id FROM jobs p WHERE p.id = jobs.parent_job_id) AS parent FROM jobs
    WHERE conversation_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2"""


class Conversation(Struct, frozen=True):
    conversation_id: str
    type: Type
    user_id: str


class ConversationRepository:
    def __init__(self, own: Own) -> None:
        self.own = own

    async def make(self, user_id: str, type: Type, id: str | None = None) -> Conversation:
        """Made again just as it is, it is the same. Raises ConversationTaken, if the id is another's."""
        wanted = Conversation(id or str(uuid4()), type, user_id)
        async with self.own.link.transaction() as fetch:
            await users.know(fetch, user_id)
            await fetch(MAKE, wanted.conversation_id, type, user_id)
            (row,) = await fetch(SHOWN, wanted.conversation_id, None, None, 1)
            if Conversation(*row) != wanted:
                raise ConversationTaken
        return wanted

    async def one(self, user_id: str | None, id: str) -> Conversation | None:
        rows = await self.own.fetch(user_id, SHOWN, id, None, None, 1)
        return Conversation(*rows[0]) if rows else None

    async def page(self, user_id: str | None, of: str | None, after: str | None, limit: int) -> list[Conversation]:
        return [Conversation(*row) for row in await self.own.fetch(user_id, SHOWN, None, of, after, limit)]

    async def jobs(self, user_id: str | None, id: str, limit: int) -> list[dict[str, Any]]:
        """The newest first."""
        return [dict(row) for row in await self.own.fetch(user_id, JOBS, id, limit)]
