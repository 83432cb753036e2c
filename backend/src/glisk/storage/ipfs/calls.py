"""Calls to a pinning service: its answer, or an error that says why there is none."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

import httpx
import msgspec

from glisk import pauses
from glisk.errors import PinDown, PinError, PinForbidden, PinLimited, PinRefused

T = TypeVar("T")

TIMEOUT = httpx.Timeout(60.0, connect=10.0)  # of silence: while bytes flow, we wait
LIMIT = timedelta(minutes=3)  # for all of it: who sends a byte now and then must not hold us for ever
PAUSE = timedelta(minutes=1)  # when one is asked for without saying how long; such limits are counted by the minute
FORBIDDEN = (401, 402, 403)
REFUSED = (400, 413, 415, 422)
TOLD = 300  # characters of what it said
A_PAGE = 10_000


class Service:
    """`secrets` are never told, whatever the service repeats of what we sent."""

    def __init__(
        self, name: str, client: httpx.AsyncClient, secrets: Sequence[str] = (), limit: timedelta = LIMIT
    ) -> None:
        self.name, self.client, self.limit = name, client, limit
        self.secrets = sorted(filter(None, secrets), key=len, reverse=True)

    async def asked(self, method: str, url: str, **content: Any) -> httpx.Response:
        """Its answer, whatever the status."""
        try:
            async with asyncio.timeout(self.limit.total_seconds()):
                return await self.client.request(method, url, **content)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise PinDown(f"{self.name} said nothing for too long.") from error
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise PinDown(
                self.told(f"The connection to {self.name} failed: {str(error) or type(error).__name__}.")
            ) from error

    def refusal(self, answer: httpx.Response, said: str) -> PinError:
        status, pause = answer.status_code, pauses.asked(answer)
        seen = (
            self.told(f"{self.name} answered {status}: {said or answer.reason_phrase or 'no reason given'}").rstrip(".")
            + "."
        )
        if status in FORBIDDEN:
            return PinForbidden(seen)
        if status == 429 or (status == 503 and pause):
            return PinLimited(seen, after=pause or PAUSE)
        return PinRefused(seen) if status in REFUSED else PinDown(seen)

    def read(self, data: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise PinDown(f"What {self.name} answered cannot be read: {self.told(str(error))}.") from error

    def told(self, text: str) -> str:
        """On one line, short enough to show, and without our key."""
        for secret in self.secrets:
            text = text.replace(secret, "…")
        return re.sub(r"\s+", " ", text).strip()[:TOLD]


def text_of(page: str) -> str:
    """The words of a page that a proxy has sent in place of the answer."""
    return re.sub(r"<(head|script|style)\b.*?</\1>|<[^>]*>", " ", page[:A_PAGE], flags=re.DOTALL | re.IGNORECASE)
