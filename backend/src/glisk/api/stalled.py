"""Whoever stops in the middle of what they send has left, as far as we can tell: nothing of ours waits for them for ever."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATIENCE_S = 60.0  # for the next part of a body


class Stalled:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, impatient(receive) if scope["type"] == "http" else receive, send)


def impatient(receive: Receive) -> Receive:
    is_whole = False

    async def heard() -> Message:
        """Once all of it is there, whoever waits on waits for the end of the connection, and that may take its time."""
        nonlocal is_whole
        if is_whole:
            return await receive()
        try:
            async with asyncio.timeout(PATIENCE_S):
                message = await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        is_whole = not message.get("more_body", False)
        return message

    return heard
