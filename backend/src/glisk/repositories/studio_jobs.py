"""Makes jobs for people: with those they wait for, whoever is to be told of their end, and each request once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from glisk.engine.link import Link, Transaction
from glisk.errors import JobMissing
from glisk.repositories import requests, users
from glisk.repositories.job_repository import Enqueued, JobRepository, NewJob, key_in, with_options
from glisk.repositories.own import Own
from glisk.repositories.refusal import REFUSED, refusal
from glisk.repositories.requests import Asked, AskedBefore

WEBHOOK = "webhook"  # the workflow that tells somebody of a job's end
INPUTS = "INSERT INTO job_inputs (item_id, object_key) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING"
THEIRS = "SELECT id, job_id FROM jobs WHERE id = ANY ($1::bigint[])"


@dataclass(frozen=True, slots=True)
class Order:
    """A job, and what belongs to it: whom to tell of its end, which objects it was given, which request it comes from."""

    job: NewJob
    webhook: str | None = None
    inputs: Sequence[str] = ()
    request: Asked | None = None

    @property
    def is_plain(self) -> bool:
        return not (self.webhook or self.inputs or self.request or self.job.parents)


class StudioJobs:
    """Plain ones of many callers at once share a commit; the others have a transaction each."""

    def __init__(self, own: Own, link: Link, most_per_user: int | None = None) -> None:
        self.own, self.repository = own, JobRepository(link, most_per_user)

    async def make(self, order: Order) -> Enqueued:
        if order.is_plain:
            if order.job.user_id:
                await users.know(self.own.link.fetch, order.job.user_id)
            return await self.repository.enqueue(order.job)
        job = order.job if order.job.opts is None else with_options(order.job)
        try:
            return await self.made(replace(order, job=job))
        except REFUSED as error:
            raise refusal([job], error) from None

    async def made(self, order: Order) -> Enqueued:
        if order.request and (known := await requests.recall(self.own.link.fetch, order.request)):
            return Enqueued(known["id"], known["job_id"], created=False)
        try:
            async with self.own.link.transaction() as transaction:
                return await self.written(transaction, order)
        except AskedBefore:
            return await self.made(order)

    async def written(self, transaction: Transaction, order: Order) -> Enqueued:
        if order.job.user_id:
            await users.know(transaction, order.job.user_id)
        (made,) = await self.repository.write_in(transaction, [order.job])
        if order.request:
            await requests.remember(transaction, order.request, made.id)
        if order.inputs:
            await transaction(INPUTS, made.id, sorted(order.inputs))
        if order.webhook:
            await self.repository.write_in(transaction, [telling(order.webhook, made, order.job.user_id)])
        return made

    async def parents(self, user_id: str | None, job_ids: Sequence[UUID]) -> list[int]:
        """Their numbers. Raises JobMissing for one that is not there, or is somebody else's."""
        rows: list[Any] = await self.own.fetch(user_id, THEIRS, [key_in(job_id) for job_id in job_ids])
        known = {UUID(bytes=row["job_id"].bytes): row["id"] for row in rows}
        if missing := [job_id for job_id in job_ids if job_id not in known]:
            raise JobMissing(f"It is the parent {missing[0]}.")
        return [known[job_id] for job_id in job_ids]


def telling(url: str, made: Enqueued, user_id: str | None) -> NewJob:
    """Released when that job ends, however it ends. Its owner's too, who alone is told of it."""
    payload = {"url": url, "job_id": str(made.job_id)}
    return NewJob(WEBHOOK, payload, name=WEBHOOK, user_id=user_id, parents=[made.id], on_failure="ignore")
