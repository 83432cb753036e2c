"""Results on their way to those who asked for them: sent, received, cleaned up."""

from __future__ import annotations

from datetime import timedelta

import structlog

from glisk.engine.link import Link
from glisk.engine.periodic import Periodic

log = structlog.get_logger()
EVERY = timedelta(minutes=1)
LEASE = timedelta(minutes=5)  # the longest that somebody may take to receive one; after that it may be cleaned up
JUST_NOW = timedelta(seconds=30)
BATCH = 1000

DISPATCH = "UPDATE jobs SET dispatched_until = now() + $2::interval WHERE id = $1"
RETURN = "UPDATE jobs SET dispatched_until = NULL WHERE id = $1"
# The first time counts.
DELIVER = "UPDATE jobs SET dispatched_until = NULL, delivered_at = COALESCE(delivered_at, now()) WHERE id = $1"
UNDO = "UPDATE jobs SET delivered_at = NULL WHERE id = $1 AND delivered_at > now() - $2::interval"
# A preview stays for the day whose limit it counts for. A row stays while one that waited for it is open: that one may still read its result. Its events go with it; what was paid for
# it stays in the ledger, and its picture goes when nobody else has the same (leave_object).
CLEAN = """
    WITH old AS MATERIALIZED (
      SELECT id FROM jobs j WHERE delivered_at <= now() - $1::interval AND finished_at IS NOT NULL
        AND (name IS DISTINCT FROM 'preview' OR finished_at < now() - interval '1 day')
        AND (dispatched_until IS NULL OR dispatched_until < now()) AND ($3::bigint IS NULL OR id = $3)
        AND NOT EXISTS (SELECT FROM job_dependencies d JOIN jobs c ON c.id = d.child_id WHERE d.parent_id = j.id AND c.finished_at IS NULL)
      ORDER BY id LIMIT $2 FOR UPDATE OF j SKIP LOCKED),
    gone AS (DELETE FROM jobs USING old WHERE jobs.id = old.id RETURNING jobs.id),
    untold AS (DELETE FROM events e USING gone WHERE e.item_id = gone.id)
    SELECT id FROM gone"""


async def dispatch(link: Link, id: int) -> None:
    """While it is being sent nobody cleans it up. If we die meanwhile, the lease ends by itself."""
    await link.fetch(DISPATCH, id, LEASE)


async def give_back(link: Link, id: int) -> None:
    """It was not received."""
    await link.fetch(RETURN, id)


async def deliver(link: Link, id: int, grace: timedelta) -> None:
    """It was received. Without grace everything about it is deleted at once, else by and by."""
    await link.fetch(DELIVER, id)
    if not grace:
        await link.fetch(CLEAN, grace, 1, id)


async def undo(link: Link, id: int) -> None:
    """It only seemed to have been received."""
    await link.fetch(UNDO, id, JUST_NOW)


async def clean(link: Link, grace: timedelta) -> int:
    """How many jobs went."""
    cleaned, last = 0, BATCH
    while last == BATCH:
        last = len(await link.fetch(CLEAN, grace, BATCH, None))
        cleaned += last
    return cleaned


def works(link: Link, grace: timedelta) -> list[Periodic]:
    async def run() -> None:
        if cleaned := await clean(link, grace):
            log.info("cleaned up delivered results", jobs=cleaned)

    return [Periodic("clean up results", EVERY, run)]
