"""Deletes what was delivered, and then the bytes that nobody has any more."""

from __future__ import annotations

import time
from datetime import timedelta

import structlog
from msgspec import Struct

from glisk.engine.link import Link
from glisk.engine.periodic import Periodic
from glisk.errors import BadObjectKey, StorageError
from glisk.repositories import leftovers
from glisk.repositories.leftovers import Leftover
from glisk.storage.objects import Objects

log = structlog.get_logger()

EVERY = timedelta(minutes=1)
YOUNG = timedelta(minutes=1)  # so long it may still be somebody's who does not announce what they store
AT_ONCE = 200
LONGEST_S = 30.0  # others who come again and again wait for it
DELIVERED = """
    DELETE FROM files WHERE file_id IN (
      SELECT file_id FROM files WHERE delivered_at <= now() - $1::interval ORDER BY delivered_at LIMIT $2)
    RETURNING file_id"""


def works(link: Link, objects: Objects, grace: timedelta) -> list[Periodic]:
    """For `keep_time`. `grace`: how long what was delivered can be had again."""

    async def run() -> None:
        until, files, deleted = time.monotonic() + LONGEST_S, 0, 0
        while time.monotonic() < until:
            gone = len(await link.fetch(DELIVERED, grace, AT_ONCE))
            swept = await sweep(link, objects)
            files, deleted = files + gone, deleted + swept.deleted
            if max(gone, swept.seen) < AT_ONCE:
                break
        if files or deleted:
            log.info("swept", files=files, objects=deleted)

    return [Periodic("sweep objects", EVERY, run)]


class Swept(Struct, frozen=True):
    """How many leftovers were looked at, and how many objects went."""

    seen: int
    deleted: int


async def sweep(link: Link, objects: Objects, age: timedelta = YOUNG) -> Swept:
    """Some. What the storage does not let go of now is tried again in a few minutes."""
    taken = await leftovers.take(link.fetch, age, AT_ONCE)
    until = time.monotonic() + leftovers.AT_IT.total_seconds() / 2
    used = await leftovers.used(link.fetch, [each.key for each in taken])
    unused = (each for each in taken if each.key not in used and time.monotonic() < until)
    gone = [each for each in unused if await is_deleted(objects, each)]
    await leftovers.forget(link.fetch, [*gone, *(each for each in taken if each.key in used)])
    return Swept(len(taken), len(gone))


async def is_deleted(objects: Objects, leftover: Leftover) -> bool:
    try:
        await objects.delete(leftover.key)
    except BadObjectKey:  # nothing of that name can be stored
        pass
    except StorageError as error:
        log.warning("could not delete an object", key=leftover.key, error=str(error))
        return False
    return True
