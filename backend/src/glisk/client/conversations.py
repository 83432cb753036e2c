"""Conversations, to which language jobs belong."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from glisk.client.asking import as_json, given
from glisk.client.calling import Caller
from glisk.client.shapes import Conversation, ConversationPage


@dataclass(frozen=True, slots=True)
class Conversations:
    caller: Caller

    async def make(
        self,
        type: Literal["dm", "project_channel"],
        *,
        conversation_id: str | None = None,
        user_id: str | None = None,
    ) -> Conversation:
        """With an id of one's own it can be asked for twice, and is made once."""
        body = as_json(given(type=type, conversationId=conversation_id, userId=user_id))
        return await self.caller.read(
            Conversation, "POST", "/conversations", repeats=conversation_id is not None, **body
        )

    async def show(self, conversation_id: str) -> Conversation:
        """With its jobs."""
        return await self.caller.read(Conversation, "GET", path_of(conversation_id))

    async def list(self, *, user: str | None = None, limit: int = 50) -> AsyncGenerator[Conversation, None]:
        asked = given(user=user, limit=limit)
        async for page in self.caller.pages(ConversationPage, "/conversations", cursor="after", **asked):
            for conversation in page.conversations:
                yield conversation

    async def remove(self, conversation_id: str) -> None:
        """With its jobs."""
        await self.caller.ask("DELETE", path_of(conversation_id), repeats=False)


def path_of(conversation_id: str) -> str:
    return f"/conversations/{quote(conversation_id, safe='')}"
