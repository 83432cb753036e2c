"""What may everybody see? The picture and the metadata of a token from its reveal on, and nothing before."""

from __future__ import annotations

from glisk.repositories.board import Board

# Two tokens may share a picture: it is public as soon as one of them is. OFFSET 0 keeps the planner from starting at the status,
# which is that of nearly all tokens, or so it may become overnight.
OBJECT = """
    SELECT EXISTS (
      SELECT FROM (SELECT status FROM tokens_s0 WHERE image_key = $1 OFFSET 0) AS t WHERE status = ANY ($2::text[])) AS found"""
# A picture that was replaced before the reveal stays hidden. What is no file of a token's, like a part of one, is found by nobody
# who has not seen the whole.
CID = """
    SELECT NOT EXISTS (SELECT FROM pins WHERE cid = $1)
      OR EXISTS (SELECT FROM (SELECT status, image_cid, metadata_cid FROM pins p JOIN tokens_s0 t ON t.id = p.item_id
                              WHERE p.cid = $1 OFFSET 0) AS t
                 WHERE $1 IN (image_cid, metadata_cid) AND status = ANY ($2::text[]))
      OR EXISTS (SELECT FROM (SELECT status, image_cid FROM pins p JOIN tokens_s0 t ON t.image_key = p.object_key
                              WHERE p.cid = $1 OFFSET 0) AS t
                 WHERE image_cid = $1 AND status = ANY ($2::text[])) AS found"""


class PublicBoard(Board):
    """By `statuses`: those in which a token is public."""

    async def has_object(self, key: str, statuses: list[str]) -> bool:
        return await self.found(OBJECT, key, statuses)

    async def has_cid(self, cid: str, statuses: list[str]) -> bool:
        return await self.found(CID, cid, statuses)

    async def found(self, sql: str, name: str, statuses: list[str]) -> bool:
        (row,) = await self.link.fetch(sql, name, statuses)
        return bool(row["found"])


def public_statuses(*, reveals: bool) -> list[str]:
    """`reveals`: tokens are revealed on the chain, and shown after that; else as soon as they are pinned."""
    return ["revealed"] if reveals else ["revealed", "ready"]
