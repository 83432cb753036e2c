"""A question that may cost money: in the ledger before it is asked, and paid for once, or by a person's word."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any, Generic, TypeVar

import structlog

from glisk.drawing.purse import Purse, Spent
from glisk.drawing.subject import Asked
from glisk.drawing.verdicts import Verdicts
from glisk.engine import ledger
from glisk.engine.claim import Claim
from glisk.engine.decide import Closing, Done, Fail, Verdict
from glisk.engine.ledger import Attempt
from glisk.engine.link import Link, LinkLost, persistently
from glisk.engine.periodic import Periodic
from glisk.errors import OutcomeUnknown, ProviderError, ProviderFailed
from glisk.providers.answerer import Answer, Answerer
from glisk.providers.openai.classify import UNKNOWN
from glisk.providers.port import Receipt
from glisk.settings import Settings
from glisk.workflows import JOBS

log = structlog.get_logger()
Question = TypeVar("Question")

FORGOTTEN_AFTER = timedelta(minutes=55)  # then nobody finds it any more
INTERRUPTED = f"It was asked already, and whoever had asked did not live to hear the answer. {UNKNOWN}"
ENDED = f"Its job had ended before the answer came. {UNKNOWN}"
CODE = {"code": OutcomeUnknown.code}


class Asking(Generic[Question]):
    def __init__(self, whom: Answerer[Question], settings: Settings, estimate: Decimal | None) -> None:
        self.whom, self.verdicts = whom, Verdicts(settings)
        self.purse = Purse(whom, estimate, settings.daily_budget)

    async def verdict(self, claim: Claim, question: Question, finish: Callable[[Any], dict[str, Any]]) -> Verdict:
        """`finish` makes facts of the answer, and may raise ValueError for one that says nothing."""
        try:
            if self.whom.is_free:
                return await self.free(claim, question, finish)
            return await self.paid(claim, question, finish)
        except Spent as spent:
            return spent.verdict(self.whom.name)

    async def free(self, claim: Claim, question: Question, finish: Callable[[Any], dict[str, Any]]) -> Verdict:
        """Nothing is lost by asking again, so nothing is written down."""
        try:
            answer = await self.whom.answer(question, Receipt(keep_nothing))
            claim.reached(0.9)
            return Done(finish(answer.output))
        except (ProviderFailed, ValueError) as error:
            return Fail(str(error))

    async def paid(self, claim: Claim, question: Question, finish: Callable[[Any], dict[str, Any]]) -> Verdict:
        attempt = await self.opened(claim, self.whom.words(question))
        if isinstance(attempt, Fail):
            return attempt
        try:
            answer = await self.asked(claim, attempt, question)
            claim.reached(0.9)
            return Done(finished(answer, finish), Closing(attempt.id, "done", answer.cost, details=answer.details))
        except ProviderError as error:
            log.warning("a question was not answered", id=claim.id, code=error.code, error=error.said)
            return await self.verdicts.on(claim, attempt, error)

    async def opened(self, claim: Claim, words: str) -> Attempt | Fail:
        """A new one, or one that can be asked after. What nobody can find out any more may have been paid."""
        seed = secrets.randbits(31)
        attempt = await self.purse.open(claim, Asked(words, "user", seed))
        if attempt.seed == seed:
            return attempt  # ours, also if our first word that it is did not get through
        is_ours = self.whom.has_receipts and attempt.provider == self.whom.name
        if is_ours and (attempt.receipt or attempt.age <= FORGOTTEN_AFTER):
            return attempt
        return Fail(INTERRUPTED, closes=unknown(attempt, "interrupted", INTERRUPTED))

    async def asked(self, claim: Claim, attempt: Attempt, question: Question) -> Answer:
        claim.reached(0.3)
        try:
            return await self.whom.answer(question, self.receipt(claim, attempt))
        except asyncio.CancelledError:
            if claim.is_lost:  # to a person who ended the row, or to another worker, who goes on if that can be
                with suppress(LinkLost):
                    await self.give_up(claim.link, claim.status, claim.id)
            raise

    def receipt(self, claim: Claim, attempt: Attempt) -> Receipt:
        async def keep(value: str) -> None:
            record = ledger.record
            await persistently(lambda: record(claim.link.fetch, attempt.id, "open", receipt=value), "keep receipt")

        return Receipt(keep, attempt.age, attempt.is_resumed, attempt.receipt)

    async def give_up(self, link: Link, step: str, item: int | None = None) -> None:
        """What was asked for rows that have ended without it."""
        for row in await ledger.left_open(link.fetch, JOBS, self.whom.name, step, item):
            await self.forgotten(link, row)

    async def forgotten(self, link: Link, row: Any) -> None:
        if not self.whom.has_receipts:
            closing = Closing(row["attempt_id"], "unknown", error_code="cancelled", error=ENDED, details=CODE)
            await ledger.close(link.fetch, closing)
            return
        try:
            cost = await self.whom.forget(Receipt(keep_nothing, row["age"], is_resumed=True, value=row["receipt"]))
        except ProviderError as error:
            log.warning(
                "a question nobody waits for could not be stopped yet", attempt=row["attempt_id"], error=error.said
            )
            return
        await ledger.close(link.fetch, Closing(row["attempt_id"], "cancelled", cost, error="Its row had ended"))

    def works(self, link: Link, step: str) -> list[Periodic]:
        """For questions whose rows have ended, and whose workers with them."""
        if self.whom.is_free:
            return []

        async def run() -> None:
            await self.give_up(link, step)

        return [Periodic(f"close questions at {step}", timedelta(minutes=1), run)]

    async def close(self) -> None:
        await self.whom.close()


async def keep_nothing(_: str) -> None:
    """Nobody comes after us."""


def finished(answer: Answer, finish: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """An answer that says nothing was paid all the same, and another may say more."""
    try:
        return finish(answer.output)
    except ValueError as error:
        said = f"The answer cannot be used: {error}"
        raise ProviderFailed(said, category="answer", provider_code="answer", cost=answer.cost) from error


def unknown(attempt: Attempt, code: str, said: str) -> Closing:
    """With what it was expected to cost: it counts as paid."""
    return Closing(attempt.id, "unknown", error_code=code, error=said, details=CODE)
