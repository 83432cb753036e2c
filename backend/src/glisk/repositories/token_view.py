"""One token with all that a page shows of it beside its story: its picture, its place on the chain, where it is pinned."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from glisk.repositories.board import Board

VIEW = """
    SELECT t.detected_at, t.finished_at, t.updated_at, t.prompt, t.prompt_source, t.generation_attempts AS attempts,
      t.generation_error AS error, t.image_key, t.image_mime, t.image_cid, t.metadata_cid, t.token_uri, t.minter, t.mint_block,
      '0x' || encode(t.mint_tx, 'hex') AS mint_tx, t.mint_log, '0x' || encode(t.reveal_tx, 'hex') AS reveal_tx,
      a.wallet_address AS author, t.not_before, t.leased_by,
      GREATEST(c.head_no, c.tip_no) - t.mint_block + 1 AS confirmations, c.confirmed_no >= t.mint_block AS is_confirmed
    FROM tokens_s0 t JOIN authors a ON a.author_id = t.author_id
    LEFT JOIN chain_cursor c ON c.chain_id = t.chain_id AND c.contract_address = t.contract_address
    WHERE t.id = $1"""
PINS = "SELECT cid, pinner, label, pinned_at, missing_since, error FROM pins WHERE item_id = $1 ORDER BY label, pinner"


class Pinned(Struct, frozen=True):
    cid: str
    pinner: str
    label: str
    pinned_at: datetime | None
    missing_since: datetime | None
    error: str | None


class View(Struct, frozen=True):
    """`confirmations`: blocks since the mint, its own counted, where its chain is followed."""

    detected_at: datetime
    finished_at: datetime | None
    updated_at: datetime | None
    prompt: str | None
    prompt_source: str
    attempts: int
    error: str | None
    image_key: str | None
    image_mime: str | None
    image_cid: str | None
    metadata_cid: str | None
    token_uri: str | None
    minter: str | None
    mint_block: int | None
    mint_tx: str | None
    mint_log: int | None
    reveal_tx: str | None
    author: str
    not_before: datetime | None
    leased_by: str | None
    confirmations: int | None
    is_confirmed: bool | None
    pins: list[Pinned]


class TokenView(Board):
    async def of(self, id: int) -> View:
        (row,) = await self.listed(VIEW, id)
        return View(**row, pins=[Pinned(**pin) for pin in await self.listed(PINS, id)])
