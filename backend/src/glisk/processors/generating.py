"""generating: a prompt becomes a picture, whatever the provider does, and no picture is paid for twice."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress
from datetime import timedelta
from typing import Any

import structlog

from glisk.drawing.abandoning import abandon
from glisk.drawing.acceptance import Acceptance
from glisk.drawing.purse import Purse, Spent
from glisk.drawing.subject import Subject, subject_of
from glisk.drawing.verdicts import Verdicts, closing, on_storage
from glisk.drawing.wanted import Unfit
from glisk.engine import ledger
from glisk.engine.claim import Claim, Hears
from glisk.engine.decide import Fail, Verdict, Wait
from glisk.engine.ledger import Attempt, SeedTaken
from glisk.engine.link import Link, LinkLost, persistently
from glisk.engine.periodic import Periodic
from glisk.errors import ProviderError, Refused, StorageError
from glisk.processors import Limits, processor
from glisk.providers import chosen
from glisk.providers.port import Painter, Receipt
from glisk.settings import Settings
from glisk.storage.objects import Objects
from glisk.workflows import JOBS, TOKENS, WORKFLOWS

log = structlog.get_logger()

SEED_REST = timedelta(seconds=1)
FORGOTTEN_AFTER = timedelta(minutes=55)  # the provider removes what was asked for after an hour: no order is found then
ACTIVE = {  # what a row is called while it is drawn
    flow.active(waiting)
    for flow in WORKFLOWS.values()
    for waiting, step in flow.steps.items()
    if step.process == "generating"
}
LIMITS = {
    "replicate": Limits(concurrency=500, rate=10.0),  # its own limit is 600 orders a minute
    "sd_webui": Limits(concurrency=1),
    "studio": Limits(concurrency=2),
}


@processor("generating")
class Generating:
    def __init__(self, settings: Settings, painter: Painter | None = None) -> None:
        self.settings, self.painter = settings, painter or chosen.painter(settings)
        self.lane: str | None = self.painter.name
        self.limits = LIMITS[self.painter.name]
        self.purse = Purse(self.painter, chosen.estimate(settings), settings.daily_budget)
        self.verdicts = Verdicts(settings)
        self.acceptance = Acceptance(Objects.of(settings))

    async def run(self, claim: Claim) -> Verdict:
        try:
            subject = subject_of(claim, self.settings, takes_lora=self.painter.takes_lora)
        except Unfit as error:
            return Fail(str(error))
        if problem := subject.problem():
            return Fail(problem)
        try:
            return await self.drawn(claim, subject)
        except Spent as spent:
            return spent.verdict(self.painter.name)
        except SeedTaken:
            return Wait(SEED_REST, "Another picture with the same seed is being drawn: waiting for it")
        except StorageError as error:  # the order stands, so its picture is fetched again
            return on_storage(error, self.painter.name)
        except asyncio.CancelledError:
            if claim.is_lost:  # to a person who ended the row, or to another worker, who goes on with the order
                with suppress(LinkLost):  # then it is stopped by and by
                    await abandon(claim.link, self.painter, [claim.workflow.table], claim.status, claim.id)
            raise

    async def drawn(self, claim: Claim, subject: Subject) -> Verdict:
        """At most two orders: what the author asked for, and the fallback if that is refused."""
        while True:
            attempt = await self.opened(claim, subject)
            claim.reached(0.1)
            log.info("drawing begun", id=claim.id, seed=attempt.seed, **self.told(attempt.prompt or ""))
            try:
                picture = await self.painter.draw(subject.order(attempt), self.receipt(claim, attempt))
                claim.reached(0.8)
                verdict = await self.acceptance.verdict(claim, subject, attempt, picture)
                log.info(
                    "picture drawn",
                    id=claim.id,
                    seed=attempt.seed,
                    prompt=attempt.prompt_source,
                    cost=str(picture.cost),
                )
                return verdict
            except Refused as error:
                if not can_fall_back(subject, attempt):
                    return await self.verdicts.on(claim, attempt, error)
                if not await self.fall_back(claim, subject, attempt):
                    return Wait()  # somebody else's claim by now
                await self.refused(claim, attempt, error)
            except ProviderError as error:
                log.warning("drawing failed", id=claim.id, code=error.code, error=error.said)
                return await self.verdicts.on(claim, attempt, error)

    async def opened(self, claim: Claim, subject: Subject) -> Attempt:
        """The open one, unless nobody can find out any more what became of it: that may have been paid, and stays so in the
        ledger."""
        attempt = await self.purse.open(claim, subject.asked())
        is_forgotten = attempt.receipt is None and attempt.age > FORGOTTEN_AFTER
        if attempt.is_resumed and (is_forgotten or attempt.provider != self.painter.name):
            said = "Nobody can tell any more what became of it"
            if attempt.provider != self.painter.name:
                said = f"It was ordered from {attempt.provider}, which draws no more; {attempt.receipt or 'without receipt'}"
            await persistently(lambda: ledger.record(claim.link.fetch, attempt.id, "unknown", error=said), "give up")
            return await self.purse.open(claim, subject.asked())
        return attempt

    def receipt(self, claim: Claim, attempt: Attempt) -> Receipt:
        async def keep(receipt: str) -> None:
            record = ledger.record
            await persistently(lambda: record(claim.link.fetch, attempt.id, "open", receipt=receipt), "keep receipt")

        return Receipt(keep, attempt.age, attempt.is_resumed, attempt.receipt)

    async def fall_back(self, claim: Claim, subject: Subject, attempt: Attempt) -> bool:
        """Written before the refused order is closed: from here on nobody sends that prompt again."""
        facts = subject.fallback()
        if facts is None:
            return True  # it was written before, by whoever died then
        told = self.shown(attempt.prompt or "")
        log.warning("prompt refused, drawing the fallback", token_id=str(claim.row["token_id"]), **told)
        return await claim.note({"censored": True, "token_id": str(claim.row["token_id"]), **told}, **facts)

    async def refused(self, claim: Claim, attempt: Attempt, error: Refused) -> None:
        closes = closing(attempt, error)
        if closes:
            await persistently(lambda: ledger.close(claim.link.fetch, closes), "close attempt")

    def told(self, prompt: str) -> dict[str, Any]:
        """For the log."""
        return {name.removeprefix("original_"): value for name, value in self.shown(prompt).items()}

    def shown(self, prompt: str) -> dict[str, Any]:
        if self.settings.redact_prompts:
            return {"original_prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest(), "length": len(prompt)}
        return {"original_prompt": prompt}

    def hint(self, receipt: str) -> None:
        """Somebody says that there is news of this order."""
        if isinstance(self.painter, Hears):
            self.painter.hint(receipt)

    async def close(self) -> None:
        self.acceptance.close()
        await self.painter.close()

    def works(self, link: Link) -> list[Periodic]:
        """For what nobody holds any more when its row ends."""

        async def run() -> None:
            for active in sorted(ACTIVE):
                await abandon(link, self.painter, (TOKENS, JOBS), active)

        return [Periodic("abandon orders", timedelta(minutes=1), run)]


def can_fall_back(subject: Subject, attempt: Attempt) -> bool:
    """Not from the fallback itself; and what was resumed may be the order that the row has fallen back from already."""
    is_behind = attempt.prompt_source != subject.asked().source
    return attempt.prompt_source != "fallback" and (is_behind or subject.fallback() is not None)
