"""What is pinned where: a row for every CID and every place where it is to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from glisk.engine.store import Fetch

# Two tokens could share bytes. Whoever writes several rows goes by their order, so that no two wait for each other.
KEEP = """
INSERT INTO pins (cid, pinner, item_id, object_key, label, pinned_at, check_at)
SELECT DISTINCT ON (f.cid) f.cid, $2, $1, f.object_key, f.label, now(), now() + $6::interval
FROM unnest($3::text[], $4::text[], $5::text[]) AS f (cid, object_key, label) ORDER BY f.cid
ON CONFLICT (cid, pinner) DO UPDATE
SET pinned_at = now(), check_at = EXCLUDED.check_at, missing_since = NULL, error = NULL"""
WANT = """
INSERT INTO pins (cid, pinner, item_id, object_key, label)
SELECT f.cid, p.name, $1, f.object_key, f.label
FROM unnest($3::text[], $4::text[], $5::text[]) AS f (cid, object_key, label), unnest($2::text[]) AS p (name)
ORDER BY f.cid, p.name
ON CONFLICT DO NOTHING"""
# A pinner may have been added later than what it is to have was pinned. Who has a row already keeps it as it is.
SPREAD = """
WITH next AS MATERIALIZED (
  SELECT DISTINCT ON (cid) cid, item_id, object_key, label FROM pins WHERE cid > $2 ORDER BY cid LIMIT $3),
added AS (
  INSERT INTO pins (cid, pinner, item_id, object_key, label)
  SELECT n.cid, p.name, n.item_id, n.object_key, n.label FROM next AS n, unnest($1::text[]) AS p (name) ORDER BY n.cid, p.name
  ON CONFLICT DO NOTHING)
SELECT CASE count(*) WHEN $3 THEN max(cid) ELSE '' END FROM next"""
# Nobody else takes them before the lease is over; should we end before that, somebody does then.
TAKE = """
WITH due AS MATERIALIZED (
  SELECT cid, pinner FROM pins WHERE check_at <= now() AND pinner = ANY($1::text[])
  ORDER BY check_at LIMIT $2 FOR UPDATE SKIP LOCKED)
UPDATE pins p SET check_at = now() + $3::interval FROM due WHERE (p.cid, p.pinner) = (due.cid, due.pinner)
RETURNING p.cid, p.pinner, p.object_key, p.label, p.pinned_at IS NOT NULL AS is_pinned"""
MISS = """
UPDATE pins SET pinned_at = NULL, missing_since = coalesce(missing_since, now()) WHERE cid = $1 AND pinner = $2"""
FIND = """
UPDATE pins SET pinned_at = coalesce(pinned_at, now()), missing_since = NULL, error = NULL, check_at = now() + $3::interval
WHERE cid = $1 AND pinner = $2"""
# Waiting as long again as it has been missing already is waiting twice as long each time.
PUT_OFF = """
UPDATE pins
SET error = left($3, 1000), missing_since = CASE WHEN pinned_at IS NULL THEN coalesce(missing_since, now()) END,
    check_at = now() + greatest($4::interval, least(coalesce(now() - missing_since, '0'), $5::interval))
WHERE cid = $1 AND pinner = $2"""


@dataclass(frozen=True, slots=True)
class Pinnable:
    """A file by its CID, where its bytes are stored, and what people call it."""

    cid: str
    object_key: str
    label: str


@dataclass(frozen=True, slots=True)
class Due:
    """A pin to look at."""

    cid: str
    pinner: str
    object_key: str
    label: str
    is_pinned: bool  # as far as we know


async def kept(
    fetch: Fetch,
    item: int,
    files: Sequence[Pinnable],
    pinner: str,
    others: Sequence[str],
    check_after: timedelta,
) -> None:
    """The first pinner has them; the others are to have them by and by."""
    columns = [f.cid for f in files], [f.object_key for f in files], [f.label for f in files]
    await fetch(KEEP, item, pinner, *columns, check_after)
    if others:
        await fetch(WANT, item, list(others), *columns)


async def spread(fetch: Fetch, pinners: Sequence[str], after: str, limit: int) -> str:
    """Whatever is pinned anywhere is to be at each of these: the next so many CIDs. The last of them; empty at the end."""
    ((last,),) = await fetch(SPREAD, list(pinners), after, limit)
    return str(last)


async def taken(fetch: Fetch, pinners: Sequence[str], limit: int, lease: timedelta) -> list[Due]:
    return [Due(*row) for row in await fetch(TAKE, list(pinners), limit, lease)]


async def missed(fetch: Fetch, pin: Due) -> None:
    await fetch(MISS, pin.cid, pin.pinner)


async def found(fetch: Fetch, pin: Due, check_after: timedelta) -> None:
    await fetch(FIND, pin.cid, pin.pinner, check_after)


async def put_off(fetch: Fetch, pin: Due, error: str, rest: timedelta, longest: timedelta | None = None) -> None:
    """For so long; with `longest` for longer each time, up to that."""
    await fetch(PUT_OFF, pin.cid, pin.pinner, error, rest, longest or rest)
