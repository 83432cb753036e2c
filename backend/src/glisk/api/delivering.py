"""An answer that is sent once: whoever sends it learns whether all of it was taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Protocol

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from glisk.api.connections import Connections

LINGER_S = 1.0  # for who wants the connection closed: they hang up first, and so we see whether they had read it


class Delivery(Protocol):
    async def begin(self) -> None:
        """From now on nobody deletes what is being sent."""

    async def end(self, *, is_whole: bool) -> None:
        """All of it is handed over but for the last bytes; or the other side was gone before."""

    async def undo(self) -> None:
        """It seemed to be handed over, and the connection broke with something unread."""


class Delivered(StreamingResponse):
    """JSON whose length is known."""

    def __init__(
        self, chunks: AsyncIterator[bytes], headers: Mapping[str, str], delivery: Delivery, connections: Connections
    ) -> None:
        super().__init__(chunks, headers=headers, media_type="application/json")
        self.chunks, self.delivery, self.connections = chunks, delivery, connections
        self.is_out, self.lingers, self.hung_up = False, False, asyncio.Event()
        self.ending: asyncio.Task[None] | None = None
        self.undoing: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.connections.watch(scope.get("client"), self.on_end)
        self.lingers = Request(scope).headers.get("connection", "").lower() == "close"
        await self.delivery.begin()
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.ending is None:
                await self.delivery.end(is_whole=False)

    def on_end(self, is_broken: bool) -> None:
        """Of the connection, at once: from here on whatever is sent goes nowhere."""
        self.hung_up.set()
        if self.ending and (is_broken or not self.is_out):
            self.undoing = asyncio.create_task(self.undo(self.ending))

    async def undo(self, ending: asyncio.Task[None]) -> None:
        await asyncio.wait([ending])
        await self.delivery.undo()

    async def stream_response(self, send: Send) -> None:
        """Ended before its last bytes are out: whoever has all of it and asks again at once is to be told that it is gone. The
        end of the body comes apart from them: whoever counts them knows that these are all, and hangs up."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        last = b""
        async for chunk in self.chunks:
            await self.pass_on(send, last)
            last = chunk
        if not self.hung_up.is_set():
            self.ending = asyncio.create_task(self.delivery.end(is_whole=True))
            await asyncio.shield(self.ending)  # it is not to be left half done because somebody hangs up
        await self.pass_on(send, last)
        self.is_out = not self.hung_up.is_set()
        if self.lingers:
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    await self.hung_up.wait()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def pass_on(self, send: Send, chunk: bytes) -> None:
        if chunk:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
