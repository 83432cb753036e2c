"""Answers that break: connections that end too early."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: close by RST


class Lines:
    """The open connections, found again by whom they lead to: a web application is not given its own."""

    def __init__(self, state: ServerState) -> None:
        self.state = state

    def leading_to(self, client: object) -> Iterator[asyncio.Transport]:
        for line in list(self.state.connections):
            if isinstance(line, H11Protocol) and client in (None, line.client):
                yield line.transport

    def hang_up(self, client: object, *, reset: bool = False) -> None:
        for transport in self.leading_to(client):
            if reset:
                transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                transport.abort()
            transport.close()  # after what was written before

    def cut(self) -> None:
        """All of them, whatever is still to be said."""
        for transport in self.leading_to(None):
            transport.abort()


class HungUp(Response):
    """No answer at all."""

    def __init__(self, lines: Lines, *, reset: bool) -> None:
        super().__init__()
        self.lines, self.reset = lines, reset

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.lines.hang_up(scope["client"], reset=self.reset)
        while (await receive())["type"] != "http.disconnect":
            pass


class Torn(HungUp):
    """Half of an answer that promised more."""

    def __init__(self, whole: Response, lines: Lines, *, reset: bool) -> None:
        super().__init__(lines, reset=reset)
        self.whole = whole
        self.status_code = whole.status_code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = getattr(self.whole, "body", b"")  # of a stream nothing arrives
        half = body[: len(body) // 2]
        await send({"type": "http.response.start", "status": self.whole.status_code, "headers": self.whole.raw_headers})
        await send({"type": "http.response.body", "body": bytes(half), "more_body": True})
        await super().__call__(scope, receive, send)
