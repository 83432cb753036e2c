"""A server of the operator's, which hears what we tell, and answers as a test wants."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response

from glisk.api.webhooks import is_signed
from tests.serving import served

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
LIMIT_S = 20.0


@dataclass
class Hearer:
    """`status`: what it answers next; `is_slow`: it takes a message, and does not answer until it is let go."""

    url: str = ""
    status: int = 200
    is_slow: bool = False
    heard: list[dict[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    forged: int = 0
    came: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def hear(self, request: Request) -> Response:
        body = await request.body()
        self.forged += not is_signed(SECRET, request.headers, body, time.time())
        self.heard.append(msgspec.json.decode(body))
        self.ids.append(request.headers["webhook-id"])
        self.came.set()
        if self.is_slow:
            await self.let_go.wait()
        return Response(status_code=self.status, headers={"location": self.url} if self.status == 307 else {})

    @property
    def types(self) -> list[str]:
        return [message["type"] for message in self.heard]

    async def has(self, many: int) -> None:
        async with asyncio.timeout(LIMIT_S):
            while len(self.heard) < many:
                self.came.clear()
                await self.came.wait()


@asynccontextmanager
async def hearing() -> AsyncIterator[Hearer]:
    hearer, app = Hearer(), FastAPI()
    app.add_api_route("/hook", hearer.hear, methods=["POST"])
    async with served(app) as url:
        hearer.url = f"{url}/hook"
        yield hearer
        hearer.let_go.set()
