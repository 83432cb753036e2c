"""Authors as people look at them, and their choice whether prompts are public."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from glisk.repositories.board import Board

LIST = """
    SELECT wallet_address AS wallet, prompt_text AS prompt, COALESCE(prompt_disclosure, $1) AS disclosure,
      prompt_disclosure IS NOT NULL AS is_chosen,
      (SELECT count(*) FROM tokens_s0 t WHERE t.author_id = a.author_id AND t.status <> 'orphaned') AS tokens
    FROM authors a ORDER BY author_id DESC LIMIT $2"""
CHOOSE = "UPDATE authors SET prompt_disclosure = $2 WHERE wallet_address = $1 RETURNING author_id"
PINNED = """
    SELECT count(*) FILTER (WHERE prompt_salt IS NOT NULL) AS openable, count(*) FILTER (WHERE prompt_salt IS NULL) AS closed
    FROM tokens_s0 WHERE author_id = $1 AND metadata_cid IS NOT NULL"""


class Pinned(Struct, frozen=True):
    """How many tokens were described before a choice: those whose prompts can still be told, and those where no salt was kept."""

    openable: int
    closed: int


class AuthorBoard(Board):
    async def newest(self, default: str, limit: int = 50) -> list[dict[str, Any]]:
        """`default`: what holds for those who have not chosen."""
        return await self.listed(LIST, default, limit)

    async def disclose(self, wallet: str, choice: str) -> Pinned | None:
        """None: there is no such author."""
        async with self.link.transaction() as fetch:
            if not (authors := await fetch(CHOOSE, wallet, choice)):
                return None
            (row,) = await fetch(PINNED, authors[0]["author_id"])
            return Pinned(**row)
