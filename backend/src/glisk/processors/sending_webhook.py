"""sending-webhook: whoever asked for a job, and left an address, is told how it ended: signed, and again until they take it."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Fail, Retry, Verdict
from glisk.engine.link import persistently
from glisk.errors import FetchError
from glisk.processors import Limits, processor
from glisk.providers.strangers import Strangers
from glisk.repositories.relatives import Relative, told_of
from glisk.settings import Settings
from glisk.telling import signed
from glisk.values import text

log = structlog.get_logger()

GONE = 410
SECONDS = 10.0


class Errand(Struct, frozen=True):
    """As the server has written it into the payload."""

    url: str
    job_id: UUID


@processor("sending-webhook")
class SendingWebhook:
    lane: str | None = "webhooks"
    limits = Limits(concurrency=8)  # a receiver that takes its time must not take all the hands

    def __init__(self, settings: Settings) -> None:
        self.strangers = Strangers.of(settings)
        self.secret = text(settings.job_webhook_secret) or text(settings.webhook_secret)

    async def run(self, claim: Claim) -> Verdict:
        try:
            errand = msgspec.json.decode(claim.row["payload"], type=Errand)
        except msgspec.DecodeError as error:
            return Fail(f"There is nobody to tell, or nothing to tell of: {error}")
        job = await persistently(lambda: told_of(claim.link.fetch, errand.job_id, claim.id), "read job")
        if job is None:
            return Fail("The job that this tells of is not there any more")
        try:
            return verdict(await self.sent(claim, errand.url, job))
        except FetchError as error:
            log.info("a webhook was not taken", id=claim.id, code=error.code)
            return Retry(str(error), category="webhook") if error.may_pass else Fail(f"{error} {error.fix}")

    async def sent(self, claim: Claim, url: str, job: Relative) -> int:
        """Under the same id each time, so that whoever took it already knows it again."""
        body = msgspec.json.encode(message(job))
        headers = signed.headers(self.secret, f"msg_{claim.row['job_id']}", int(time.time()), body)
        return await self.strangers.post(url, body, headers, seconds=SECONDS)

    async def close(self) -> None:
        await self.strangers.close()


def verdict(status: int) -> Verdict:
    if 200 <= status < 300:
        return Done({"result": {"status": status}, "progress": 100})
    if status == GONE:
        return Fail("The receiver wants no more (410)")
    return Retry(f"The receiver answered {status}", category="webhook")


def message(job: Relative) -> dict[str, Any]:
    return {
        "jobId": job.job_id,
        "workflow": job.workflow,
        "status": job.status,
        "result": job.result,
        "error": job.error,
        "finishedAt": job.finished_at,
    }
