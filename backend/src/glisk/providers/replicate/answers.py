"""Asks a model of Replicate's that answers with words: a language model, or one that tags pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from glisk.providers.answerer import Answer
from glisk.providers.port import Receipt
from glisk.providers.replicate import output
from glisk.providers.replicate.inputs import Inputs
from glisk.providers.replicate.output import ENDED
from glisk.providers.replicate.prediction import Prediction
from glisk.providers.replicate.predictions import Predictions


class Asks(Protocol):
    """A question that knows how a model wants to be asked."""

    def inputs(self) -> Inputs: ...

    def words(self) -> str: ...


Question = TypeVar("Question", bound=Asks)


class ReplicateAnswers(Predictions[Question]):
    is_free = False
    has_receipts = True

    def words(self, question: Question) -> str:
        return question.words()

    async def answer(self, question: Question, receipt: Receipt) -> Answer:
        prediction = await self.over(question, receipt)
        cost = output.cost(prediction, self.terms.price)
        if prediction.status != "succeeded" or prediction.output is None:
            raise output.without_picture(prediction, cost, "an answer")
        return Answer(prediction.output, cost, {"version": prediction.version} if prediction.version else {})

    def inputs(self, order: Question) -> Inputs:
        return {**order.inputs(), **self.terms.own_inputs}

    def is_this(self, order: Question, asked: Mapping[str, Any]) -> bool:
        """By all that it was asked: two of the same words get the same answer, and it is paid for once."""
        return all(asked.get(name) == value for name, value in order.inputs().items())

    def is_over(self, prediction: Prediction) -> bool:
        """Words come one by one: what is there before the end is a beginning."""
        return prediction.status in ENDED

    async def forget(self, receipt: Receipt) -> Any:
        if not receipt.value:
            return None
        found = await self.known(receipt.value)
        if not self.is_over(found):
            found = await self.api.cancel(found.id)
        return output.cost(found, self.terms.price)
