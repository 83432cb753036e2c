"""Objects that nobody may have any more: they are deleted by and by, but not while somebody is storing the same bytes.

Whoever stores an object announces it first, and has half an hour to write the row that refers to it. Should they die before that,
the announcement is what is left, and the object goes. Whoever deletes takes the leftover for itself, and only then looks for rows:
those that were written before are seen, and who comes after that waits until it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from glisk.engine.store import Fetch
from glisk.images.sniff import Format
from glisk.storage.objects import Objects, Stored

RESERVED = timedelta(minutes=30)
AT_IT = timedelta(minutes=5)  # much longer than a storage is waited for
LOOK_EVERY_S = 0.2
ANNOUNCE = """
    INSERT INTO leftovers (object_key, since) SELECT key, now() + $2::interval FROM unnest($1::text[]) AS key ORDER BY key
    ON CONFLICT (object_key) DO UPDATE SET since = GREATEST(leftovers.since, EXCLUDED.since), deleting_until = NULL
      WHERE COALESCE(leftovers.deleting_until < now(), true)
    RETURNING object_key"""
TAKE = """
    UPDATE leftovers SET deleting_until = now() + $3::interval WHERE object_key IN (
      SELECT object_key FROM leftovers WHERE since < now() - $1::interval AND COALESCE(deleting_until < now(), true)
      ORDER BY since LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING object_key, since"""
USED = """
    SELECT key FROM unnest($1::text[]) AS key
    WHERE EXISTS (SELECT FROM files WHERE object_key = key)
      OR EXISTS (SELECT FROM jobs WHERE output_r2_key = key)
      OR EXISTS (SELECT FROM job_inputs WHERE object_key = key)
      OR EXISTS (SELECT FROM tokens_s0 WHERE image_key = key)
      OR EXISTS (SELECT FROM projects
                 WHERE pictures_in(original_image_url || (generated_image_url || generated_image_urls)) @> ARRAY[key])"""
# Let go of once more in the meantime, it stays for another look.
FORGET = """
    DELETE FROM leftovers l USING unnest($1::text[], $2::timestamptz[]) AS seen(key, since)
    WHERE l.object_key = seen.key AND l.since = seen.since"""


class Leftover(Struct, frozen=True):
    key: str
    since: datetime


async def keep(fetch: Fetch, objects: Objects, data: bytes, kind: Format) -> Stored:
    """Stores bytes to which the caller writes a row within half an hour; else they are deleted."""
    await announce(fetch, [str(await objects.key_of(data, kind.extension))])
    return await objects.put(data, kind.mime, kind.extension)


async def announce(fetch: Fetch, keys: Collection[str]) -> None:
    """Also of what is stored already and gets another owner. Waits for whoever is just deleting one of them."""
    wanted = set(keys)
    while wanted:
        wanted -= {row["object_key"] for row in await fetch(ANNOUNCE, sorted(wanted), RESERVED)}
        if wanted:
            await asyncio.sleep(LOOK_EVERY_S)


async def take(fetch: Fetch, age: timedelta, limit: int) -> list[Leftover]:
    """Some that were let go of so long ago. They are the caller's for five minutes."""
    return [Leftover(*row) for row in await fetch(TAKE, age, limit, AT_IT)]


async def used(fetch: Fetch, keys: Sequence[str]) -> set[str]:
    """Those that somebody has. In a statement of its own: one sees no row that was written after it began."""
    rows: Sequence[Any] = await fetch(USED, list(keys))
    return {row["key"] for row in rows}


async def forget(fetch: Fetch, done: Sequence[Leftover]) -> None:
    await fetch(FORGET, [each.key for each in done], [each.since for each in done])
