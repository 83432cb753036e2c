"""GET /events: everything that happens, as server-sent events; `curl -N` is enough to follow it.

Who was away comes back with the id of the last event they had. Everybody may follow the tokens, from status to status; what was
tried, by whom and how it failed is for the operator.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from glisk.api import refusal
from glisk.api.access import Door
from glisk.api.asking import Asked
from glisk.api.naming import Names, number_in
from glisk.api.stream import Batch, News, Stream, TooFarBehind, cursor_in
from glisk.engine.link import Link
from glisk.errors import BadQuery, DatabaseUnreachable, StreamsFull
from glisk.repositories.event_log import Position
from glisk.repositories.metadata_board import MetadataBoard
from glisk.repositories.token_board import Collection
from glisk.settings import Settings
from glisk.workflows import TOKEN

T = TypeVar("T")
Kind: TypeAlias = Literal["token", "job", "lane", "key", "workflow", "chain", "other"]

MOST = 1000  # who follow at once
ALIVE_EVERY_S = 15.0  # proxies end what says nothing for longer
RETRY_MS = 2000
KEPT = 16  # batches, as they were written
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nginx would collect them
RESET = "event: reset\ndata: {}\n"
STILL_THERE = b": still there\n\n"
REVOKED = "key revoked"
CHAIN = ("reorg", "halted", "resumed")
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/event-stream": {
                "example": 'id: 8214-1033\nevent: token\ndata: {"token_id":"17","collection":"8453:0x569d…43a0",'
                '"from":"ready","status":"revealed","at":"2026-01-01T12:00:10.000000Z"}\n\n'
            }
        },
        "description": "`id` is where to go on (Last-Event-ID, or ?after=); `event` is token, job, lane, chain, workflow or key. "
        "`reset` says that too much was missed: look at everything anew.",
    },
    **refusal.responses(BadQuery, StreamsFull, DatabaseUnreachable),
}


def router(stream: Stream, door: Door, link: Link, settings: Settings) -> APIRouter:
    desk, routes = Desk(stream), APIRouter(tags=["events"], route_class=Asked)
    names = Names(MetadataBoard(link), settings)

    async def follow(
        request: Request,
        after: Annotated[str | None, Query(description="The id of the last event you had.")] = None,
        token: Annotated[str | None, Query(description="Only of the token with this id.", examples=["17"])] = None,
        contract: Annotated[str | None, Query(description="Its collection, CHAIN:0x…, if there are several.")] = None,
        last_event_id: Annotated[str | None, Header(include_in_schema=False)] = None,
    ) -> StreamingResponse:
        """What happens from now on, or since an event that you name."""
        visitor = await door.visitor(request)
        only = None if token is None else (str(number_in(token)), await names.collection(contract))
        if after:
            cursor_in(after)
        return Following(desk.followed(last_event_id or after, only, is_operator=visitor.is_operator))

    routes.add_api_route("/events", follow, methods=["GET"], response_class=StreamingResponse, responses=ANSWERS)
    return routes


Only: TypeAlias = tuple[str, Collection | None] | None


class Following(StreamingResponse):
    """Whoever cannot follow is told so by the status: the answer starts when the first of it is there."""

    def __init__(self, opening: AbstractAsyncContextManager[AsyncIterator[bytes]]) -> None:
        super().__init__((), headers=HEADERS, media_type="text/event-stream")
        self.opening = opening

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.opening as chunks:
            self.body_iterator = chunks
            await super().__call__(scope, receive, send)


class Desk:
    """Every batch is written once, for all who follow."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.open = stream, 0
        self.written: dict[tuple[str, str, int, bool], bytes] = {}

    @asynccontextmanager
    async def followed(
        self, after: str | None, only: Only, *, is_operator: bool
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        if self.open >= MOST:
            raise StreamsFull
        self.open += 1
        try:
            async with AsyncExitStack() as stack:
                greeting, batches = await self.begin(stack, after)
                yield self.chunks(greeting, batches, only, is_operator=is_operator)
        finally:
            self.open -= 1

    async def begin(self, stack: AsyncExitStack, after: str | None) -> tuple[bytes, AsyncIterator[Batch]]:
        """Where they begin is told at once: else who loses us before the first event would not know where to go on."""
        retry, again = f"retry: {RETRY_MS}\n", ""
        if after is not None:
            with suppress(
                TooFarBehind, BadQuery
            ):  # a browser that is refused for what it was once told never comes back
                return f"{retry}\n".encode(), await stack.enter_async_context(self.stream.follow(after))
            again = RESET
        now = await self.stream.now()
        batches = await stack.enter_async_context(self.stream.follow(now))
        return f"{retry}id: {now}\n{again}\n".encode(), batches

    async def chunks(
        self, greeting: bytes, batches: AsyncIterator[Batch], only: Only, *, is_operator: bool
    ) -> AsyncGenerator[bytes, None]:
        yield greeting
        async for batch in pausing(batches, ALIVE_EVERY_S):
            match batch:
                case None:
                    yield STILL_THERE
                case Position():
                    yield f"id: {batch}\n{RESET}\n".encode()
                case list():
                    yield self.shown(batch, only, is_operator=is_operator)
                    if is_operator and any(each.to_status == REVOKED for each in batch):
                        return  # it may have been their key; who comes back is asked for it

    def shown(self, batch: list[News], only: Only, *, is_operator: bool) -> bytes:
        if only is None:
            return self.all_of(batch, is_operator=is_operator)
        return written([each for each in batch if is_of(each, only)], batch[-1].key, is_operator=is_operator)

    def all_of(self, batch: Sequence[News], *, is_operator: bool) -> bytes:
        """Between two events there are always the same ones."""
        name = (batch[0].key, batch[-1].key, len(batch), is_operator)
        if name not in self.written:
            if len(self.written) >= KEPT:
                del self.written[next(iter(self.written))]
            self.written[name] = written(batch, batch[-1].key, is_operator=is_operator)
        return self.written[name]


async def pausing(many: AsyncIterator[T], longest: float) -> AsyncGenerator[T | None, None]:
    """None: nothing has come for so many seconds."""
    coming: asyncio.Task[T | None] | None = None
    try:
        while True:
            coming = coming or asyncio.create_task(next_of(many))
            done, _ = await asyncio.wait({coming}, timeout=longest)
            if not done:
                yield None
                continue
            if (one := coming.result()) is None:
                return
            coming = None
            yield one
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


async def next_of(many: AsyncIterator[T]) -> T | None:
    return await anext(many, None)


def written(batch: Sequence[News], last: str, *, is_operator: bool) -> bytes:
    """Where to go on is told even if nothing in it is for them."""
    seen = batch if is_operator else [each for each in batch if each.moves_a_token]
    told = [one_of(each, is_operator=is_operator) for each in seen]
    if not seen or seen[-1].key != last:
        told.append(f"id: {last}\n\n".encode())
    return b"".join(told)


def one_of(news: News, *, is_operator: bool) -> bytes:
    data = msgspec.json.encode(told_to_the_operator(news) if is_operator else told_to_all(news))
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (news.key.encode(), kind(news).encode(), data)


def told_to_all(news: News) -> dict[str, Any]:
    return {
        "token_id": news.token_id,
        "collection": f"{news.chain_id}:{news.contract_address}",
        "from": news.from_status,
        "status": news.to_status,
        "at": news.at,
    }


def told_to_the_operator(news: News) -> dict[str, Any]:
    whose = {"item_id": None if news.item_id is None else str(news.item_id), "workflow": news.workflow}
    changed = {"from": news.from_status, "status": news.to_status, "at": news.at}
    token = told_to_all(news) if news.token_id is not None else {}
    return whose | changed | token | {"actor": news.actor, "data": news.data}


def is_of(news: News, only: tuple[str, Collection | None]) -> bool:
    number, of = only
    is_there = of is None or (of.chain, of.contract) == (news.chain_id, news.contract_address)
    return news.token_id == number and is_there


def kind(news: News) -> Kind:
    if news.item_id is not None:
        return "token" if news.workflow == TOKEN.name else "job"
    if news.workflow is not None:
        return "workflow"
    if news.to_status in CHAIN:
        return "chain"
    match news.to_status.partition(" ")[0]:
        case "lane":
            return "lane"
        case "key":
            return "key"
    return "other"
