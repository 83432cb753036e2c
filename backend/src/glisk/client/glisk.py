"""`async with Glisk(url, key=…) as glisk`: the client."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType

import httpx

from glisk import __version__
from glisk.client.calling import Caller
from glisk.client.conversations import Conversations
from glisk.client.files import Files
from glisk.client.jobs import Jobs
from glisk.client.projects import Projects
from glisk.client.sse import Event
from glisk.client.tokens import Tokens

PATIENCE_S = 60.0
# A server ends a connection that was quiet for five seconds: one that is about to be is not used any more.
LIMITS = httpx.Limits(max_connections=100, keepalive_expiry=2.0)


class Glisk:
    """`key`: glk_…, as `glisk keys create` has shown it. `patience`: for how many seconds a call is tried before it is given up."""

    def __init__(self, url: str, *, key: str | None = None, patience: float = PATIENCE_S) -> None:
        headers = {"User-Agent": f"glisk-client/{__version__}", **({"Authorization": f"Bearer {key}"} if key else {})}
        self.http = httpx.AsyncClient(base_url=url, headers=headers, limits=LIMITS, timeout=30.0)
        caller = Caller(self.http, patience)
        self.jobs, self.files, self.projects = Jobs(caller), Files(caller), Projects(caller)
        self.conversations, self.tokens, self.caller = Conversations(caller), Tokens(caller), caller

    async def __aenter__(self) -> Glisk:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def events(self, after: str = "") -> AsyncGenerator[Event, None]:
        """What happens from now on, or since the event with this id. A stream that ends is taken up where it ended."""
        async with aclosing(self.caller.follow("/events", after)) as events:
            async for event in events:
                if event is not None:
                    yield event

    async def close(self) -> None:
        await self.http.aclose()
