"""The fingerprints of the pictures that were accepted: is there a token that has the same one?"""

from __future__ import annotations

from glisk.engine.link import Link
from glisk.images.fingerprint import COARSE_DISTANCE, Fingerprint, first_near

# Everybody waits for the one before, so nobody waits for the disk: what is lost with the machine is drawn, and kept, again.
AT_EASE = "SET LOCAL synchronous_commit TO off"
# Two at once must not both find that there is no other.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('glisk: image_prints', 0))"
CANDIDATES = """
SELECT p.coarse, p.fine, t.token_id FROM image_prints p JOIN tokens_s0 t ON t.id = p.item_id
WHERE p.item_id <> $1 AND bit_count((p.coarse # $2)::bit(64)) <= $3"""
KEEP = """
INSERT INTO image_prints (item_id, coarse, fine) VALUES ($1, $2, $3)
ON CONFLICT (item_id) DO UPDATE SET coarse = EXCLUDED.coarse, fine = EXCLUDED.fine"""


async def kept(link: Link, item: int, found: Fingerprint) -> int | None:
    """None: it is this row's now. Else the token that has the same picture, or nearly."""
    async with link.transaction() as fetch:
        await fetch(AT_EASE)
        await fetch(ONE_AT_A_TIME)
        rows = await fetch(CANDIDATES, item, found.coarse, COARSE_DISTANCE)
        near = first_near(found, [Fingerprint(row["coarse"], row["fine"]) for row in rows])
        if near is not None:
            return int(rows[near]["token_id"])
        await fetch(KEEP, item, found.coarse, found.fine)
        return None
