"""Hands a message to whoever the operator has named, or says why they did not take it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from glisk import __version__
from glisk.telling import signed

if TYPE_CHECKING:
    import httpx

PATIENCE_S = 10.0


class NotTaken(Exception):
    """In words for the operator; the address, which may be a key, is not in them."""


@dataclass(slots=True)
class Receiver:
    """Redirects are not followed: what is signed is for this address, and a POST would become something else on its way."""

    url: str
    secret: str
    now: Callable[[], float] = time.time
    patience: float = PATIENCE_S
    client: httpx.AsyncClient | None = None

    async def post(self, id: str, message: Any) -> None:
        """Raises NotTaken; it may have been taken all the same."""
        import httpx  # takes longer to load than most commands, and few of them tell anybody anything

        body = msgspec.json.encode(message)
        headers = signed.headers(self.secret, id, int(self.now()), body) | {"user-agent": f"Glisk/{__version__}"}
        try:
            async with asyncio.timeout(self.patience):
                status = await self.sent(body, headers)
        except TimeoutError:
            raise NotTaken(f"no answer within {self.patience:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NotTaken(type(error).__name__) from None
        if not 200 <= status < 300:
            raise NotTaken(f"answered {status}")

    async def sent(self, body: bytes, headers: dict[str, str]) -> int:
        """Of the answer only the status is read, however much there is."""
        import httpx

        self.client = self.client or httpx.AsyncClient(timeout=self.patience, follow_redirects=False)
        async with self.client.stream("POST", self.url, content=body, headers=headers) as answer:
            return answer.status_code

    async def close(self) -> None:
        if self.client is not None:
            await self.client.aclose()
