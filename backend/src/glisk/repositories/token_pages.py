"""Tokens page by page, the newest first: whatever is minted meanwhile, no page leaves one out or shows it twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct

from glisk.repositories.board import Board
from glisk.repositories.token_board import Collection

COLUMNS = """
    SELECT t.id, t.chain_id, t.contract_address, t.token_id::text, a.wallet_address AS author, t.status, t.detected_at, t.updated_at,
      t.finished_at, t.minter, t.mint_block, t.mint_tx, t.mint_log, t.reveal_tx, t.token_uri, t.image_key, t.image_mime, t.image_cid,
      t.metadata_cid, t.prompt, t.prompt_source, t.generation_attempts AS attempts, t.generation_error AS error
    FROM tokens_s0 t JOIN authors a ON a.author_id = t.author_id"""
NEWEST = "ORDER BY t.id DESC LIMIT $1"
NAMED = "WHERE t.chain_id = $1 AND t.contract_address = $2 AND t.token_id = $3::text::numeric"
AUTHOR = "SELECT author_id FROM authors WHERE wallet_address = $1"


class Wanted(Struct, frozen=True):
    """Which tokens. `below`: older than the token with this number of work, the last of the page before."""

    limit: int
    status: str | None = None
    author: str | None = None
    of: Collection | None = None
    below: int | None = None
    orphans: bool = True  # also those whose mint has left the chain


class Listed(Struct, frozen=True):
    """A token with all that may be told of it, though not to everybody."""

    id: int
    chain_id: int
    contract_address: str
    token_id: str
    author: str
    status: str
    detected_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    minter: str | None
    mint_block: int | None
    mint_tx: bytes | None
    mint_log: int | None
    reveal_tx: bytes | None
    token_uri: str | None
    image_key: str | None
    image_mime: str | None
    image_cid: str | None
    metadata_cid: str | None
    prompt: str | None
    prompt_source: str
    attempts: int
    error: str | None


class TokenPages(Board):
    async def page(self, wanted: Wanted) -> list[Listed]:
        """Only what is asked for stands in the statement, and the author by number: so each kind of page has its own plan, along
        its own index."""
        author = [row["author_id"] for row in await self.link.fetch(AUTHOR, wanted.author)] if wanted.author else [None]
        if not author:
            return []
        terms = list(conditions(wanted, *author))
        where = " AND ".join(text.replace("$?", f"${n}") for n, (text, _) in enumerate(terms, 2))
        sql = " ".join((COLUMNS, f"WHERE {where}" if where else "", NEWEST))
        return [Listed(**row) for row in await self.listed(sql, wanted.limit, *(value for _, value in terms))]

    async def named(self, of: Collection, token_id: int) -> Listed | None:
        rows = await self.listed(f"{COLUMNS} {NAMED}", of.chain, of.contract, str(token_id))
        return Listed(**rows[0]) if rows else None


def conditions(wanted: Wanted, author_id: int | None) -> Iterator[tuple[str, Any]]:
    if wanted.status is not None:
        yield "t.status = $?", wanted.status
    if author_id is not None:
        yield "t.author_id = $?", author_id
    if wanted.of is not None:
        yield "t.chain_id = $?", wanted.of.chain
        yield "t.contract_address = $?", wanted.of.contract
    if wanted.below is not None:
        yield "t.id < $?", wanted.below
    if not wanted.orphans:
        yield "t.status <> $?", "orphaned"
