"""The fingerprints of the pictures that were accepted: is there a token that has the same one?"""

from __future__ import annotations

from glisk.engine.store import Fetch
from glisk.images.fingerprint import COARSE_DISTANCE, Fingerprint, is_near

# Two at once must not both find that there is no other.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('glisk: image_prints', 0))"
CANDIDATES = """
SELECT p.fine, t.token_id FROM image_prints p JOIN tokens_s0 t ON t.id = p.item_id
WHERE p.item_id <> $1 AND bit_count((p.coarse # $2)::bit(64)) <= $3"""
KEEP = """
INSERT INTO image_prints (item_id, coarse, fine) VALUES ($1, $2, $3)
ON CONFLICT (item_id) DO UPDATE SET coarse = EXCLUDED.coarse, fine = EXCLUDED.fine"""


async def twin(fetch: Fetch, item: int, found: Fingerprint) -> int | None:
    """The token that has the same picture, or nearly; none may be added until the caller's transaction ends."""
    await fetch(ONE_AT_A_TIME)
    for row in await fetch(CANDIDATES, item, found.coarse, COARSE_DISTANCE):
        if is_near(Fingerprint(found.coarse, row["fine"]), found):
            return int(row["token_id"])
    return None


async def keep(fetch: Fetch, item: int, found: Fingerprint) -> None:
    await fetch(KEEP, item, found.coarse, found.fine)
