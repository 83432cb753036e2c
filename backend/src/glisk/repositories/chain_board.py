"""Contracts as people look at them: how far each has been read, what there is, what was reorganised."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from glisk.repositories.board import Board
from glisk.repositories.means import with_means
from glisk.repositories.token_board import ANY, OF_COLLECTION, Collection

# Tokens are counted along their key and orphans along their status, so that a million of them are no long wait.
READ = with_means("""
    SELECT chain_id AS chain, contract_address AS contract, NULLIF(head_no, -1) AS head, tip_no AS tip, confirmed_no AS confirmed,
      NULLIF(safe_no, -1) AS safe, GREATEST(head_no - tip_no, 0) AS tip_lag, GREATEST(head_no - confirmed_no, 0) AS confirmed_lag,
      round(extract(epoch FROM now() - updated_at))::bigint AS seconds_ago, all_tokens - orphaned AS tokens, orphaned, undecodable,
      reorgs, last_reorg_at, keeper, balance, reveals_left, halted, alarm
    FROM chain_cursor c LEFT JOIN LATERAL (
      SELECT address AS keeper, trim_scale(round(balance_wei / 1e18, 6))::text AS balance,
        REVEALS_LEFT::text AS reveals_left
      FROM chain_sender s WHERE s.chain_id = c.chain_id ORDER BY seen_at DESC LIMIT 1) AS k ON true,
      LATERAL (SELECT count(*) AS all_tokens FROM tokens_s0 t
               WHERE t.chain_id = c.chain_id AND t.contract_address = c.contract_address) AS x,
      LATERAL (SELECT count(*) AS orphaned FROM tokens_s0 t
               WHERE t.chain_id = c.chain_id AND t.contract_address = c.contract_address AND t.status = 'orphaned') AS y,
      LATERAL (SELECT count(*) AS undecodable FROM chain_event e WHERE e.chain_id = c.chain_id
                 AND e.contract_address = c.contract_address AND e.kind = 'undecodable' AND e.orphaned_at IS NULL) AS z,
      LATERAL (SELECT count(*) AS reorgs, max(at) AS last_reorg_at FROM events WHERE item_id IS NULL AND to_status = 'reorg'
                 AND data @> jsonb_build_object('chain_id', c.chain_id, 'contract', c.contract_address)) AS r""")
CURSORS = """
    SELECT chain_id, contract_address AS address, start_no AS start, confirmed_no AS confirmed, head_no AS head FROM chain_cursor"""
STATUS, FOLLOWED = (f"{some} WHERE {OF_COLLECTION} ORDER BY chain_id, contract_address" for some in (READ, CURSORS))
# A reorganisation that was too deep is one too, and the one that matters most.
REORGS = """
    SELECT at, to_status AS what, (data ->> 'chain_id')::bigint AS chain, data ->> 'contract' AS contract,
      (data ->> 'ancestor')::bigint AS ancestor, (data ->> 'depth')::bigint AS depth, (data ->> 'tip')::bigint AS tip,
      (data ->> 'orphaned')::bigint AS orphaned, data ->> 'reason' AS reason
    FROM events WHERE item_id IS NULL AND to_status IN ('reorg', 'halted')
      AND ($1::text IS NULL OR data ->> 'contract' = $1) AND ($2::bigint IS NULL OR (data ->> 'chain_id')::bigint = $2)
    ORDER BY event_id DESC LIMIT $3"""

# A nonce that has not ended, with the transaction that is out for it.
PENDING = """
    SELECT n.chain_id AS chain, n.sender, n.nonce, n.tokens, n.created_at, '0x' || encode(t.hash, 'hex') AS tx, t.created_at AS sent_at,
      trim_scale(round(t.max_fee_wei / 1e9, 3))::text AS max_gwei,
      (SELECT count(*) FROM chain_tx r WHERE (r.chain_id, r.sender, r.nonce) = (n.chain_id, n.sender, n.nonce)) AS sent
    FROM chain_nonce n LEFT JOIN chain_tx t ON (t.chain_id, t.sender, t.nonce) = (n.chain_id, n.sender, n.nonce) AND t.state = 'live'
    WHERE n.outcome IS NULL ORDER BY n.chain_id, n.sender, n.nonce LIMIT $1"""
KEEPERS = with_means("""
    SELECT chain_id AS chain, address, next_nonce, trim_scale(round(balance_wei / 1e18, 6))::text AS balance,
      trim_scale(round(fee_wei / 1e9, 3))::text AS gwei,
      REVEALS_LEFT::bigint AS reveals_left, seen_at
    FROM chain_sender ORDER BY seen_at DESC, chain_id, address""")

LAST_PRICE = (
    "SELECT fee_wei::text AS price, gas_per_token AS gas FROM chain_sender WHERE chain_id = $1 AND address = $2"
)


class Followed(Struct, frozen=True):
    """A contract of which something has been read: from which block on, and up to which one for sure."""

    chain_id: int
    address: str
    start: int
    confirmed: int
    head: int  # -1: not known

    def __str__(self) -> str:
        return f"{self.chain_id}:{self.address}"


class ChainBoard(Board):
    async def status(self, of: Collection = ANY) -> list[dict[str, Any]]:
        return await self.listed(STATUS, of.contract, of.chain)

    async def followed(self, of: Collection = ANY) -> list[Followed]:
        return [Followed(**row) for row in await self.listed(FOLLOWED, of.contract, of.chain)]

    async def reorgs(self, limit: int = 50, of: Collection = ANY) -> list[dict[str, Any]]:
        """The newest first."""
        return await self.listed(REORGS, of.contract, of.chain, limit)

    async def pending(self, limit: int = 50) -> list[dict[str, Any]]:
        """Transactions that are on their way."""
        return await self.listed(PENDING, limit)

    async def last_price(self, chain: int, keeper: str) -> tuple[int, int | None] | None:
        """Of a unit of gas, and how much of it a reveal took. None: this keeper has sent nothing yet."""
        rows = await self.listed(LAST_PRICE, chain, keeper)
        return next(((int(row["price"]), row["gas"]) for row in rows if row["price"]), None)

    async def keepers(self) -> list[dict[str, Any]]:
        """Our wallets, the one that was used last first, and for how many reveals what they have will do."""
        return await self.listed(KEEPERS)
