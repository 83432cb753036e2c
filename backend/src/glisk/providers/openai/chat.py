"""Any server with OpenAI's chat API: one call, one answer. It is made once: there is no id to ask after later."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from glisk.errors import Refused
from glisk.providers.answerer import Answer
from glisk.providers.openai import classify
from glisk.providers.openai.classify import Voice
from glisk.providers.openai.reaching import Terms, client
from glisk.providers.port import Receipt
from glisk.providers.thinker import OFFICIAL, Task

PATH = "/v1/chat/completions"
VOICE = Voice("The language model", "question")


class Message(Struct):
    content: str | None = None
    refusal: str | None = None


class Choice(Struct):
    message: Message
    finish_reason: str | None = None


class Usage(Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Completion(Struct):
    choices: list[Choice]
    usage: Usage | None = None


class Chat:
    name = "llm"
    is_free, has_receipts = False, False

    def __init__(self, terms: Terms) -> None:
        self.terms, self.model = terms, terms.model
        self.patience_s = terms.patience.total_seconds()
        self.client = client(terms)

    def words(self, question: Task) -> str:
        return question.words()

    async def answer(self, question: Task, receipt: Receipt) -> Answer:
        response = await self.answer_to(self.body(question))
        if not response.is_success:
            raise classify.answer(response, VOICE)
        return self.read(response)

    async def answer_to(self, body: dict[str, Any]) -> httpx.Response:
        """Never twice, whatever happens."""
        try:
            async with asyncio.timeout(self.patience_s):  # httpx would count from every byte anew
                return await self.client.post(f"{self.terms.url.removesuffix('/v1')}{PATH}", json=body)
        except (httpx.TransportError, TimeoutError) as error:
            raise classify.broken(error, self.terms.url, VOICE) from error

    def body(self, task: Task) -> dict[str, Any]:
        said = [{"role": "system", "content": task.system}, {"role": "user", "content": task.prompt}]
        limit = "max_completion_tokens" if self.terms.url == OFFICIAL else "max_tokens"  # others know the older word
        return {"model": self.model, "messages": said, limit: task.most_tokens}

    def read(self, response: httpx.Response) -> Answer:
        """Whoever answers with something else than words may have charged for it all the same."""
        try:
            found = msgspec.json.decode(response.content, type=Completion)
            first = found.choices[0]
        except (msgspec.MsgspecError, IndexError) as error:
            said = f"The language model answered, and there are no words in it{classify.request_id(response)}"
            raise classify.unknown(said, "unreadable") from error
        cost = self.cost(found.usage)
        if first.message.refusal or first.finish_reason == "content_filter":
            said = first.message.refusal or "its filter has dropped the answer"
            raise Refused(f"The language model refuses: {said[:300]}", provider_code="refusal", cost=cost)
        details = msgspec.to_builtins(found.usage) if found.usage else {}
        return Answer(first.message.content or "", cost, {**details, "ended": first.finish_reason})

    def cost(self, usage: Usage | None) -> Decimal | None:
        price = self.terms.price
        return price.of_tokens(usage.prompt_tokens, usage.completion_tokens) if price and usage else None

    async def forget(self, receipt: Receipt) -> Decimal | None:
        """There is nothing to ask after."""
        return None

    async def close(self) -> None:
        await self.client.aclose()
