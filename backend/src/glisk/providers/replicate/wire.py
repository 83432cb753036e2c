"""The `replicate` package, with its defects worked around here and nowhere else: each is named where it is met."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx
from replicate import prediction as package
from replicate.client import Client

from glisk.errors import ProviderError, ProviderFailed, Uncertain
from glisk.providers.replicate import classify
from glisk.providers.replicate.prediction import Prediction

T = TypeVar("T")

TIMEOUT = httpx.Timeout(20.0, connect=5.0)
MOST_CONNECTIONS = 8


class Api:
    """The four calls we need. It keeps its own connections: two of them share nothing."""

    def __init__(self, url: str, token: str, cancel_after: timedelta) -> None:
        # 1.x of the package adds /v1 itself; 2.x wants it in the same variable.
        base = url.removesuffix("/").removesuffix("/v1")
        self.wire = Wire(cancel_after)
        self.client = Client(api_token=token, base_url=base, timeout=TIMEOUT, transport=self.wire)
        self.calls: Any = self.client.predictions  # its overloads do not take what is put together at run time

    async def create(self, target: dict[str, str], **asked: Any) -> Prediction:
        return seen(await read(self.calls.async_create(**target, **asked), Uncertain))

    async def get(self, id: str) -> Prediction:
        return seen(await read(self.calls.async_get(id), ProviderFailed))

    async def page(self, cursor: str) -> tuple[list[Prediction], str | None]:
        """And where the next one is, if there is one."""
        page = await read(self.calls.async_list(cursor), ProviderFailed)
        return [seen(result) for result in page.results], page.next

    async def now(self) -> datetime:
        """By their clock, as of their last answer: ours, and our database's, may be wrong."""
        if self.wire.told is None:
            await self.page("/v1/predictions")
        told, at = self.wire.told or (datetime.now(UTC), time.monotonic())
        return told + timedelta(seconds=time.monotonic() - at)

    async def cancel(self, id: str) -> Prediction:
        return seen(await read(self.calls.async_cancel(id), Uncertain))

    async def close(self) -> None:
        await self.client._async_client.aclose()  # Defect: there is no other way to let its connections go.


async def read(answer: Awaitable[T], unreadable: type[ProviderError]) -> T:
    """Defect: what the package cannot read leaves it as whatever its parsers raise."""
    try:
        return await answer
    except ValueError as error:
        problem = unreadable(f"Replicate's answer cannot be read: {str(error)[:200]}", provider_code="unreadable")
        problem.is_open = True
        raise problem from error


def seen(found: package.Prediction) -> Prediction:
    seconds = (found.metrics or {}).get("predict_time") or 0.0
    asked, logs, created = found.input or {}, found.logs or "", found.created_at or ""
    told = (asked, found.output, found.error, logs, float(seconds), created, found.version or "")
    return Prediction(found.id, found.status, *told)


class Wire(httpx.AsyncBaseTransport):
    """Beneath the package's own transport, so that its errors never leave here but as ours."""

    def __init__(self, cancel_after: timedelta) -> None:
        self.cancel_after = f"{int(cancel_after.total_seconds())}s"
        limits = httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_CONNECTIONS)
        self.inner = httpx.AsyncHTTPTransport(limits=limits)
        self.turns = asyncio.Semaphore(MOST_CONNECTIONS)
        self.told: tuple[datetime, float] | None = None  # what time it was there, and when we heard of it

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # Defect: `create` without `wait` sends `timeout=None`, which httpx takes for "no timeout at all".
        request.extensions["timeout"] = TIMEOUT.as_dict()
        # Defect: `Cancel-After` cannot be asked for. Without it a prediction that we lost sight of runs, and is paid, for
        # up to half an hour.
        if is_order(request):
            request.headers["Cancel-After"] = self.cancel_after
        try:
            response = await self.sent(request)
        # Defect: what breaks the connection is not a ReplicateError but whatever httpx raises, not even an OSError.
        except httpx.TransportError as error:
            raise of(request, classify.broken(error, request.method)) from error
        # Defects: its transport retries a GET ten times and sleeps for as long as any Retry-After says, in silence; and its
        # ReplicateError drops the headers, Retry-After among them. Raised here, neither happens.
        if response.is_error:
            raise of(request, classify.answer(response))
        return response

    async def sent(self, request: httpx.Request) -> httpx.Response:
        """In line here: httpcore's own pool looks at everybody in line each time anybody is served."""
        async with self.turns:
            response = await self.inner.handle_async_request(request)
            response.request = request
            await response.aread()
            with suppress(KeyError, ValueError):
                self.told = parsedate_to_datetime(response.headers["date"]), time.monotonic()
            return response

    async def aclose(self) -> None:
        await self.inner.aclose()


def is_order(request: httpx.Request) -> bool:
    return request.method == "POST" and request.url.path.endswith("/predictions")


def of(request: httpx.Request, error: ProviderError) -> ProviderError:
    """Whoever only asked after an order has learned nothing about it: it stands."""
    error.is_open = error.is_open or not is_order(request)
    return error


def know_aborted() -> None:
    """Defect: `status` lacks "aborted", so such a prediction cannot even be read. Any text is a status now."""
    field = package.Prediction.__fields__["status"]
    field.type_ = field.outer_type_ = field.annotation = str
    field.prepare()


know_aborted()
