"""One address of a node: asks it as fast as it bears, and learns what it takes."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import Any, TypeVar

import httpx

from glisk.chain.rpc import answers, names, ranges, wire
from glisk.chain.rpc.answers import Response
from glisk.chain.rpc.call import Call, RangeTooWide, RpcTrouble
from glisk.chain.rpc.classify import BatchRefused, Faulty, RateLimited
from glisk.chain.rpc.condition import Condition
from glisk.chain.rpc.limits import Limits
from glisk.chain.rpc.throttle import Rate, Slots

T = TypeVar("T")

SMOOTHING = 0.2  # the weight of the newest latency
FORGET_S = 600.0  # what was only guessed of its limits
SHOWN = 300  # characters of what it says


class Endpoint:
    """`now` and `sleep` are the clock."""

    def __init__(
        self,
        url: str,
        name: str,
        limits: Limits,
        now: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.url, self.name, self.limits, self.now, self.sleep = url, name, limits, now, sleep
        self.client = httpx.AsyncClient(
            headers={"content-type": "application/json"},
            timeout=limits.request.total_seconds(),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=2 * limits.at_once),
        )
        self.rate, self.slots = Rate(limits.rate, limits.slowest_rate, now), Slots(limits.at_once, now)
        self.condition = Condition(limits, now)
        self.ids = itertools.count(1)
        self.batch, self.cap, self.guessed_at = limits.batch, ranges.Cap(), now()
        self.latency: float | None = None  # seconds, smoothed
        self.requests, self.errors = 0, Counter[str]()

    async def ask(self, calls: Sequence[Call[Any]], *, is_probe: bool = False) -> list[Any]:
        """What each call came to. How many go into one request is learned on the way."""
        while True:
            parts = [calls[at : at + self.batch] for at in range(0, len(calls), self.batch)]
            try:
                found = await together([self.exchange(part, is_probe=is_probe) for part in parts])
                return [result for part in found for result in part]
            except BatchRefused as refusal:
                self.learn_batch(refusal, max(len(part) for part in parts))

    async def exchange(self, calls: Sequence[Call[Any]], *, is_probe: bool) -> list[Any]:
        """One request. A probe waits for no turn: it finds out whether those who are waited for still live."""
        async with nullcontext() if is_probe else self.slots.one():
            if not is_probe:
                await self.rate.turn(len(calls), self.sleep)
                self.check_cooldown()
            sent_at, first_id = self.now(), next(self.ids)
            self.ids = itertools.count(first_id + len(calls))
            try:
                results = answers.results(await self.response(wire.question(calls, first_id)), calls, first_id)
            except RpcTrouble as trouble:
                self.had(trouble, calls, sent_at)
                raise
            self.went_well(calls, self.now() - sent_at)
            return results

    def check_cooldown(self) -> None:
        """It may have been asked for while a turn was waited for."""
        if (rest := self.condition.cooling_until - self.now()) > 0:
            raise RateLimited(self.condition.why, timedelta(seconds=rest))

    async def response(self, question: bytes) -> Response:
        """The time is limited as a whole: a body that drips would pass any limit on a single read."""
        self.requests += 1
        try:
            async with asyncio.timeout(self.limits.request.total_seconds()):
                return await self.whole(question)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Faulty(f"it did not answer within {self.limits.request.total_seconds():g} s", is_slow=True) from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise Faulty(self.shown(f"it cannot be asked: {error or type(error).__name__}")) from error

    async def whole(self, question: bytes) -> Response:
        async with self.client.stream("POST", self.url, content=question) as response:
            pieces, length = list[bytes](), 0
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                if (length := length + len(piece)) > self.limits.body:
                    raise Faulty(f"its answer is longer than {self.limits.body} bytes")
            return Response(response.status_code, response.headers, b"".join(pieces))

    def had(self, trouble: RpcTrouble, calls: Sequence[Call[Any]], sent_at: float) -> None:
        trouble.args = (self.shown(str(trouble)),)
        self.errors[type(trouble).__name__] += 1
        if isinstance(trouble, RateLimited):
            self.condition.cool(str(trouble), trouble.after, sent_at)
            self.rate.slow_down(sent_at)
        if isinstance(trouble, RateLimited | Faulty):
            self.slots.slow_down(sent_at)
        if isinstance(trouble, RangeTooWide) and (width := ranges.width_of(calls)):
            self.cap, self.guessed_at = self.cap.after(trouble, width), self.now()

    def went_well(self, calls: Sequence[Call[Any]], seconds: float) -> None:
        self.latency = seconds if self.latency is None else self.latency + SMOOTHING * (seconds - self.latency)
        self.rate.went_well()
        self.slots.went_well()
        self.cap = self.cap.after_success(ranges.width_of(calls))
        if self.now() - self.guessed_at > FORGET_S:
            self.cap, self.batch, self.guessed_at = self.cap.forgotten(), self.limits.batch, self.now()

    def learn_batch(self, refusal: BatchRefused, tried: int) -> None:
        said = refusal.at_most or tried
        self.batch, self.guessed_at = max(1, said if said < tried else tried // 2), self.now()

    def shown(self, text: str) -> str:
        return names.without_secrets(text, self.url)[:SHOWN]

    async def close(self) -> None:
        await self.client.aclose()


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All, or the first error; nothing goes on behind one's back."""
    if len(work) == 1:
        return [await work[0]]
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
