"""HEAD: wherever GET answers, its headers without its body. Streams have no end to tell of, and are left out."""

from __future__ import annotations

from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAMS = ("/events", "/live")


class Heads:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] != "HEAD"
            or scope["path"].endswith(STREAMS)
            or has_its_own(scope)
        ):
            await self.app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET"}, receive, send_head)


def has_its_own(scope: Scope) -> bool:
    """A route that answers HEAD itself, without reading what it does not send."""
    return any(route.matches(scope)[0] is Match.FULL for route in scope["app"].router.routes)
