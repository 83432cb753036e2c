"""Asks, and asks again where that can do no harm: after a pause that was asked for, and after a connection that was lost."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Protocol, TypeVar

import httpx
import msgspec

from glisk import pauses
from glisk.client import problem, sse
from glisk.client.sse import Event


class Page(Protocol):
    @property
    def next(self) -> str | None: ...


T = TypeVar("T")
P = TypeVar("P", bound=Page)
FIRST_S, LONGEST_S = 0.1, 5.0  # between two tries
QUIET_S = 60.0  # a stream says something every 15
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)  # whatever was asked, nobody has heard it
AWAY = (502, 503, 504)
AGAIN = {"again": "true"}


class Caller:
    """`patience`: for how many seconds a call is tried."""

    def __init__(self, http: httpx.AsyncClient, patience: float) -> None:
        self.http, self.patience = http, patience

    async def read(self, kind: type[T], method: str, path: str, *, repeats: bool = True, **parts: Any) -> T:
        answer = await self.ask(method, path, repeats=repeats, **parts)
        return msgspec.json.decode(answer.content, type=kind)

    async def ask(
        self, method: str, path: str, *, repeats: bool, if_lost: Mapping[str, str] | None = None, **parts: Any
    ) -> httpx.Response:
        """`repeats`: it may be done twice. `if_lost`: what is asked for when an answer did not arrive."""
        tries = Tries(self.patience)
        while True:
            try:
                answer = await self.http.request(method, path, **parts)
            except httpx.TransportError as error:
                if not (repeats or isinstance(error, UNSENT)) or not await tries.rest():
                    raise problem.lost(error, may_be_done=not isinstance(error, UNSENT)) from error
                parts["params"] = {**(parts.get("params") or {}), **(if_lost or {})}
            else:
                if answer.is_success:
                    return answer
                if not (is_to_be_repeated(answer, repeats) and await tries.rest(answer)):
                    raise problem.refused(answer)

    async def pages(
        self, kind: type[P], path: str, *, cursor: str = "cursor", **params: Any
    ) -> AsyncGenerator[P, None]:
        """`cursor`: under which name the next page is asked for."""
        while True:
            page = await self.read(kind, "GET", path, params=params)
            yield page
            if page.next is None:
                return
            params[cursor] = page.next

    async def events(self, path: str, **headers: str) -> AsyncGenerator[Event, None]:
        """One stream, to its end. Raises httpx.TransportError if it breaks, and Problem."""
        timeout = httpx.Timeout(self.http.timeout.connect, read=QUIET_S)
        async with self.http.stream("GET", path, headers=headers, timeout=timeout) as answer:
            if not answer.is_success:
                await answer.aread()
                raise problem.refused(answer)
            async for event in sse.events(answer.aiter_lines()):
                yield event

    async def follow(self, path: str, last: str = "") -> AsyncGenerator[Event | None, None]:
        """Over and over. None: a stream has ended, and the next one begins if nobody objects."""
        tries = Tries(self.patience)
        while True:
            try:
                async with aclosing(self.events(path, **({"Last-Event-ID": last} if last else {}))) as events:
                    async for event in events:
                        tries, last = Tries(self.patience), event.id or last
                        yield event
            except httpx.TransportError as error:
                if not await tries.rest():
                    raise problem.lost(error, may_be_done=False) from error
            else:
                yield None
                await tries.rest()


class Tries:
    def __init__(self, patience: float) -> None:
        self.over, self.pause = time.monotonic() + patience, FIRST_S

    async def rest(self, answer: httpx.Response | None = None) -> bool:
        """False: there is no time left for another."""
        asked = None if answer is None else pauses.asked(answer)
        pause = asked.total_seconds() if asked else self.pause * random.uniform(0.5, 1)  # noqa: S311
        if time.monotonic() + pause > self.over:
            return False
        self.pause = min(2 * self.pause, LONGEST_S)
        await asyncio.sleep(pause)
        return True


def is_to_be_repeated(answer: httpx.Response, repeats: bool) -> bool:
    """Whoever was told to wait was not served."""
    if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
        return "retry-after" in answer.headers
    return repeats and answer.status_code in AWAY
