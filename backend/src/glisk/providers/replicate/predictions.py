"""Predictions of Replicate's, whatever the model: placed once, found again when their answer was lost, waited for."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any, Generic, TypeVar

import structlog

from glisk.errors import OrderGone, ProviderError, ProviderFailed, Uncertain
from glisk.providers.port import Receipt
from glisk.providers.prices import Price
from glisk.providers.replicate import output
from glisk.providers.replicate.inputs import Inputs, target
from glisk.providers.replicate.poller import Looked, Poller, Rhythm
from glisk.providers.replicate.prediction import Prediction
from glisk.providers.replicate.wire import Api

log = structlog.get_logger()
T = TypeVar("T")
Ordered = TypeVar("Ordered")

OFFICIAL = "https://api.replicate.com"
MARGIN = timedelta(minutes=2)  # an order may have been on its way for a while
FEW = 4  # so many predictions are asked for one by one; more are found in the list, a hundred at a time
FEW_PAGES, ALL_PAGES = 20, 2000  # a hundred predictions each
USUAL = Rhythm()


@dataclass(frozen=True, slots=True)
class Terms:
    """How we deal with Replicate. `patience`: for how long one prediction may take, at their side and at ours; `grace`: the
    looks at their list, in seconds after each other, before an order that was not answered counts as not taken."""

    token: str
    model: str
    url: str = OFFICIAL
    webhook: str | None = None
    own_inputs: Mapping[str, Any] = field(default_factory=dict)
    price: Price | None = None
    patience: timedelta = timedelta(minutes=10)
    rhythm: Rhythm = USUAL
    grace: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)


class Predictions(ABC, Generic[Ordered]):
    """An order in, a prediction that is over out: the same order is never paid for twice."""

    name = "replicate"

    def __init__(self, terms: Terms) -> None:
        self.terms, self.model = terms, terms.model
        self.api = Api(terms.url, terms.token, terms.patience)
        self.poller = Poller(self.look, terms.rhythm, self.is_over)

    @abstractmethod
    def inputs(self, order: Ordered) -> Inputs:
        """What the model is asked for."""

    @abstractmethod
    def is_this(self, order: Ordered, asked: Mapping[str, Any]) -> bool:
        """Whether a prediction of theirs was asked for by this very order."""

    def is_over(self, prediction: Prediction) -> bool:
        return output.is_over(prediction)

    def is_mute(self, found: Prediction | ProviderError) -> bool:
        """It is over, and its list does not tell what came of it: only the prediction itself does."""
        return isinstance(found, Prediction) and self.is_over(found) and not any(output.addresses(found.output))

    async def over(self, order: Ordered, receipt: Receipt) -> Prediction:
        prediction = await self.placed(order, receipt)
        return prediction if self.is_over(prediction) else await self.ended(prediction.id)

    async def abandon(self, order: Ordered, receipt: Receipt) -> Decimal | None:
        """An order without a receipt may still be there. One that is over cannot be stopped any more, and was paid."""
        try:
            found = await self.known(receipt.value) if receipt.value else await self.find(order, receipt)
        except OrderGone:
            return None
        if found and not self.is_over(found):
            found = await self.api.cancel(found.id)
        return output.cost(found, self.terms.price) if found else None

    def hint(self, receipt: str) -> None:
        self.poller.hint(receipt)

    async def close(self) -> None:
        await self.poller.close()
        await self.api.close()

    # Placing

    async def placed(self, order: Ordered, receipt: Receipt) -> Prediction:
        if receipt.value:
            return await self.known(receipt.value)
        if receipt.is_resumed and (found := await self.find_patiently(order, receipt)):
            return found
        return await uninterrupted(self.place(order, receipt))

    async def place(self, order: Ordered, receipt: Receipt) -> Prediction:
        """Never sent twice: an order whose answer was lost is looked for, and if it is not there, left open. Whoever comes
        next looks again first."""
        try:
            prediction = await self.create(order)
        except Uncertain as error:
            log.warning("an order was not answered, looking for it", error=error.said)
            if found := await self.find_patiently(order, receipt):
                return found
            raise
        await receipt.keep(prediction.id)
        return prediction

    async def create(self, order: Ordered) -> Prediction:
        further: dict[str, Any] = {}
        if self.terms.webhook:
            further = {"webhook": self.terms.webhook, "webhook_events_filter": ["completed"]}
        asked = self.inputs(order)
        return await self.api.create(target(self.model), input=asked, **further)

    # Finding

    async def find_patiently(self, order: Ordered, receipt: Receipt) -> Prediction | None:
        """It may show up in their list a moment after they took it."""
        for rest in (*self.terms.grace, None):
            if found := await self.find(order, receipt):
                await receipt.keep(found.id)
                return found
            if rest is not None:
                await asyncio.sleep(rest)
        return None

    async def find(self, order: Ordered, receipt: Receipt) -> Prediction | None:
        """The list does not tell all of a prediction."""
        async for prediction in self.listed(receipt.age, ALL_PAGES):
            if self.is_this(order, prediction.input):
                return await self.known(prediction.id)
        return None

    async def listed(self, age: timedelta, pages: int) -> AsyncIterator[Prediction]:
        """Newest first, as far back as that by their clock. Raises Uncertain if there are more pages."""
        since = await self.api.now() - age - MARGIN
        instant = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        cursor = f"/v1/predictions?created_after={instant}"
        for _ in range(pages):
            predictions, following = await self.api.page(cursor)
            for prediction in predictions:
                if (prediction.created_at or instant)[:19] < instant[:19]:
                    return
                yield prediction
            if not following:
                return
            cursor = following
        raise Uncertain("Replicate's list of predictions is too long to look through", provider_code="list")

    async def known(self, id: str) -> Prediction:
        try:
            return await self.api.get(id)
        except ProviderFailed as error:
            if error.provider_code in ("404", "410"):
                raise OrderGone(
                    f"Replicate knows no prediction {id}: another account's?", provider_code="gone"
                ) from error
            raise

    # Waiting

    async def ended(self, id: str) -> Prediction:
        try:
            async with asyncio.timeout(self.terms.patience.total_seconds() + 60):
                return await self.poller.ended(id)
        except TimeoutError as error:
            raise Uncertain(f"Prediction {id} does not end", provider_code="timeout") from error

    async def look(self, ids: Collection[str]) -> Looked:
        found: dict[str, Prediction | ProviderError] = {}
        if len(ids) > FEW:
            found |= await self.look_through_list(set(ids))
        # The list leaves the logs out, and without them a refusal looks like a failure.
        found = {id: seen for id, seen in found.items() if not self.is_mute(seen)}
        rest = [id for id in ids if id not in found][: FEW * 4]
        return found | dict(zip(rest, await asyncio.gather(*map(self.known_or_gone, rest)), strict=True))

    async def look_through_list(self, ids: set[str]) -> dict[str, Prediction]:
        found: dict[str, Prediction] = {}
        with suppress(Uncertain):  # what is further back is asked for by its id
            async for prediction in self.listed(self.terms.patience, FEW_PAGES):
                if prediction.id in ids:
                    found[prediction.id] = prediction
                if len(found) == len(ids):
                    break
        return found

    async def known_or_gone(self, id: str) -> Prediction | ProviderError:
        try:
            return await self.known(id)
        except OrderGone as error:
            return error


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """To its end, also when we are cancelled meanwhile: an order on its way must not lose its receipt."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
