"""Tokens as the world asks for them: by collection and id, and how far what may be told of them has come."""

from __future__ import annotations

from msgspec import Struct

from glisk.repositories.board import Board
from glisk.repositories.token_board import Collection

# From one collection to the next along the key, so that a million tokens of the same are no long wait.
COLLECTIONS = """
    WITH RECURSIVE seen AS (
      (SELECT contract_address AS contract, chain_id AS chain FROM tokens_s0 ORDER BY chain_id, contract_address LIMIT 1)
      UNION ALL
      SELECT further.* FROM seen, LATERAL (
        SELECT contract_address, chain_id FROM tokens_s0 WHERE (chain_id, contract_address) > (seen.chain, seen.contract)
        ORDER BY chain_id, contract_address LIMIT 1) AS further)
    SELECT contract, chain FROM seen"""
# A mint that has left the chain is no token.
ASKED_FOR = """
    SELECT id, token_id::text, status, metadata_cid, prompt_salt FROM tokens_s0
    WHERE chain_id = $1 AND contract_address = $2 AND token_id = $3::text::numeric AND status <> 'orphaned'"""


class Asked(Struct, frozen=True):
    """A token that somebody wants to know about."""

    id: int
    token_id: str
    status: str
    metadata_cid: str | None
    prompt_salt: bytes | None


class MetadataBoard(Board):
    async def collections(self) -> list[Collection]:
        """Those that have tokens."""
        return [Collection(**row) for row in await self.listed(COLLECTIONS)]

    async def asked_for(self, of: Collection, token_id: int) -> Asked | None:
        rows = await self.listed(ASKED_FOR, of.chain, of.contract, str(token_id))
        return Asked(**rows[0]) if rows else None
