"""Previews: a prompt drawn before it is published, for as much as a day of them may cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from glisk.engine.link import Link
from glisk.engine.store import Fetch
from glisk.errors import OpenJobsFull, PreviewsSpent
from glisk.repositories import users
from glisk.repositories.job_repository import Enqueued, JobRepository, NewJob, key_in
from glisk.workflows import R2_IMAGE

NAME = "preview"
EVERYBODY = "everybody"  # the user whose previews are those of people without a key
MOST_OPEN = 20
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('preview ' || $1, 0))"
# What was paid today, or will be for what is ordered; and how many nobody has ordered yet. Such a job is kept for its day.
SPENT = """
    WITH today AS (SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS began)
    SELECT (SELECT COALESCE(sum(a.cost), 0) FROM attempts a JOIN jobs j ON j.id = a.item_id
            WHERE a.cost > 0 AND a.started_at >= (SELECT began FROM today) AND j.user_id = $1 AND j.name = $2) AS spent,
      count(*) AS open, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM attempts a WHERE a.item_id = j.id)) AS waiting
    FROM jobs j WHERE j.user_id = $1 AND j.name = $2 AND j.finished_at IS NULL"""
ONE = "SELECT id, status, finished_at, output_r2_key, error_message FROM jobs WHERE id = $1 AND job_id = $2 AND name = $3 AND workflow = $4"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a day's previews of a user may cost. None: as much as they want. `each`: one's price; None: nobody knows it."""

    user_id: str
    limit: Decimal | None
    each: Decimal | None


class Previews:
    def __init__(self, link: Link) -> None:
        self.link = link

    async def order(self, prompt: str, allowance: Allowance) -> Enqueued:
        """Raises PreviewsSpent, and OpenJobsFull. Of two at once the second sees what the first has ordered."""
        job = NewJob(R2_IMAGE.name, {"prompt": prompt}, name=NAME, user_id=allowance.user_id, max_attempts=1)
        async with self.link.transaction() as transaction:
            await transaction(ONE_AT_A_TIME, allowance.user_id)
            await require_means(transaction, allowance)
            await users.know(transaction, allowance.user_id)
            (made,) = await JobRepository(self.link).write_in(transaction, [job])
        return made

    async def one(self, job_id: UUID) -> Any | None:
        return next(iter(await self.link.fetch(ONE, key_in(job_id), job_id, NAME, R2_IMAGE.name)), None)


async def require_means(fetch: Fetch, allowance: Allowance) -> None:
    (row,) = await fetch(SPENT, allowance.user_id, NAME)
    if row["open"] >= MOST_OPEN:
        raise OpenJobsFull
    if allowance.limit is None:
        return
    if allowance.each is None:
        raise PreviewsSpent("What one costs is not known: GLISK_PRICES tells.")
    if row["spent"] + (row["waiting"] + 1) * allowance.each > allowance.limit:
        raise PreviewsSpent(f"${row['spent'].normalize():f} of ${allowance.limit.normalize():f} are spent today.")
