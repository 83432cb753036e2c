"""Authors' prompts: each is published once, in order, and kept with what its author signed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from glisk.engine.store import Fetch
from glisk.errors import NonceUsed
from glisk.repositories.board import Board

# Those we know use up no id.
KNOW = """
    INSERT INTO authors (wallet_address) SELECT $1::text WHERE NOT EXISTS (SELECT FROM authors WHERE wallet_address = $1)
    ON CONFLICT DO NOTHING"""
# Two at once wait for each other here, and the second finds that the nonce has moved on.
TURN = """
    UPDATE authors SET prompt_text = $2, prompt_nonce = prompt_nonce + 1, prompt_disclosure = COALESCE($4, prompt_disclosure)
    WHERE wallet_address = $1 AND ($3::bigint IS NULL OR prompt_nonce + 1 = $3) RETURNING author_id, prompt_nonce"""
KEEP = """
    INSERT INTO author_prompts (author_id, nonce, prompt, disclosure, chain_id, contract, deadline, signature, actor)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"""
# What the prompt says is for nobody who reads the log.
TELL = """
    INSERT INTO events (to_status, actor, data)
    VALUES ('prompt published', $2, jsonb_build_object('author', $1::text, 'nonce', $3::bigint))"""
STANDING = """
    SELECT prompt_text AS prompt, prompt_disclosure AS disclosure, prompt_nonce AS nonce,
      (SELECT published_at FROM author_prompts p WHERE p.author_id = a.author_id AND p.nonce = a.prompt_nonce) AS published_at
    FROM authors a WHERE wallet_address = $1"""


class Signed(Struct, frozen=True):
    """What makes a prompt its author's: for which collection, until when, and their signature."""

    chain_id: int
    contract: str
    deadline: datetime
    signature: bytes


class Standing(Struct, frozen=True):
    """What is known of an author. `disclosure` None: not chosen; `nonce`: that of the last prompt."""

    prompt: str | None = None
    disclosure: str | None = None
    nonce: int = 0
    published_at: datetime | None = None


class AuthorRepository(Board):
    async def standing(self, wallet: str) -> Standing:
        rows = await self.listed(STANDING, wallet)
        return Standing(**rows[0]) if rows else Standing()

    async def publish(
        self, wallet: str, prompt: str, nonce: int | None, disclosure: str | None, signed: Signed | None, actor: str
    ) -> int:
        async with self.link.transaction() as fetch:
            return await publish(fetch, wallet, prompt, nonce, disclosure, signed, actor)


async def publish(
    fetch: Fetch,
    wallet: str,
    prompt: str,
    nonce: int | None,
    disclosure: str | None,
    signed: Signed | None,
    actor: str,
) -> int:
    """The nonce it has. It is drawn for what is minted from now on. `nonce` None: the next one, whichever that is, as an operator
    publishes. `disclosure` None: as it was chosen before. Raises NonceUsed."""
    await fetch(KNOW, wallet)
    if not (rows := await fetch(TURN, wallet, prompt, nonce, disclosure)):
        raise NonceUsed
    author, given = rows[0]["author_id"], int(rows[0]["prompt_nonce"])
    await fetch(KEEP, author, given, prompt, disclosure, *parts_of(signed), actor)
    await fetch(TELL, wallet, actor, given)
    return given


def parts_of(signed: Signed | None) -> tuple[Any, ...]:
    return (signed.chain_id, signed.contract, signed.deadline, signed.signature) if signed else (None,) * 4
