"""Webhooks as a provider sends them: signed, in order unless told otherwise, and only the last one again after a failure."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import httpx

from glisk.dev.standins.timeline import A_SECOND, Timeline, stamp

RETRIES_S = (1, 3, 7, 15, 31, 60)  # after the first try
PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Parcel:
    """`id` is the same at every try."""

    id: str
    url: str
    event: str
    body: bytes
    first_at: int
    is_last: bool  # of its prediction
    order: asyncio.Lock


@dataclass(frozen=True, slots=True)
class Delivery:
    at: str
    id: str
    url: str
    event: str
    attempt: int
    status: int | None  # None: nobody answered


class Courier:
    def __init__(self, timeline: Timeline, secret: str) -> None:
        self.timeline, self.secret = timeline, secret
        self.tasks: set[asyncio.Task[None]] = set()
        self.deliveries: list[Delivery] = []

    def clear(self) -> None:
        for task in self.tasks:
            task.cancel()
        self.deliveries.clear()

    async def close(self) -> None:
        self.clear()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        if "client" in vars(self):
            await self.client.aclose()

    @cached_property
    def client(self) -> httpx.AsyncClient:
        """Made for the first parcel: it reads all certificates of the machine, and most stand-ins send nothing."""
        return httpx.AsyncClient(timeout=PATIENCE_S, follow_redirects=False, trust_env=False)

    async def settled(self) -> None:
        """Until none is under way."""
        while self.tasks:
            await asyncio.gather(*self.tasks, return_exceptions=True)

    def send(self, parcel: Parcel, attempt: int = 1) -> None:
        task = asyncio.get_running_loop().create_task(self.deliver(parcel, attempt))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def deliver(self, parcel: Parcel, attempt: int) -> None:
        async with parcel.order:
            status = await self.posted(parcel)
        at = stamp(self.timeline.now())
        self.deliveries.append(Delivery(at, parcel.id, parcel.url, parcel.event, attempt, status))
        has_failed = status is None or status >= 400
        if has_failed and parcel.is_last and attempt <= len(RETRIES_S):
            again = parcel.first_at + RETRIES_S[attempt - 1] * A_SECOND
            self.timeline.at(again, partial(self.send, parcel, attempt + 1))

    async def posted(self, parcel: Parcel) -> int | None:
        headers = {"content-type": "application/json", **self.signed(parcel)}
        try:
            answer = await self.client.post(parcel.url, content=parcel.body, headers=headers)
        except httpx.HTTPError:
            return None
        return answer.status_code

    def signed(self, parcel: Parcel) -> Mapping[str, str]:
        timestamp = str(self.timeline.now() // A_SECOND)
        return {
            "webhook-id": parcel.id,
            "webhook-timestamp": timestamp,
            "webhook-signature": signature(self.secret, parcel.id, timestamp, parcel.body),
        }

    def shown(self) -> list[dict[str, Any]]:
        return [asdict(delivery) for delivery in self.deliveries]


def signature(secret: str, id: str, timestamp: str, body: bytes) -> str:
    """Standard Webhooks: https://www.standardwebhooks.com"""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def a_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}"


def an_id() -> str:
    return f"msg_{secrets.token_urlsafe(20)}"
