"""Fetches files through an IPFS gateway, which may be slow, gone or hostile: never for ever, never more than a cap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from glisk import __version__, pauses

PASSING = (408, 425, 429)  # and whatever is the server's own fault
REDIRECTS = 5
HEADERS = {"User-Agent": f"glisk/{__version__}", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class Patience:
    """In seconds: `whole` for a file with all tries, `connect` for one connection, `rest` before the second try; it doubles.
    `silences`: a gateway that did not answer so often in a row is not asked any more, since each one takes its time."""

    whole: float = 60.0
    connect: float = 5.0
    tries: int = 3
    rest: float = 0.25
    longest_rest: float = 10.0
    silences: int = 10


class Missing(Exception):
    """The file cannot be had here; the sentence says why."""


class Passing(Missing):
    """Asking again may help. `after`: not before so many seconds have passed; `is_silent`: there was no answer at all."""

    def __init__(self, why: str, after: float = 0.0, *, is_silent: bool = False) -> None:
        super().__init__(why)
        self.after, self.is_silent = after, is_silent


class Gateway:
    def __init__(self, url: str, client: httpx.AsyncClient, patience: Patience) -> None:
        self.url, self.client, self.patience = url, client, patience
        self.silences = 0  # in a row

    async def fetched(self, cid: str, limit: int) -> bytes:
        """What the gateway says that it is: nobody has checked it yet. Raises Missing."""
        if self.silences >= self.patience.silences:
            raise Missing(f"it did not answer {self.patience.silences} times in a row, and is not asked any more")
        try:
            async with asyncio.timeout(self.patience.whole) as deadline:
                found = await self.persistently(f"{self.url}/ipfs/{cid}", limit, deadline.when() or 0.0)
        except TimeoutError:
            self.silences += 1
            raise Missing(f"it did not come within {self.patience.whole:g} s") from None
        except Missing as missing:
            self.silences = self.silences + 1 if isinstance(missing, Passing) and missing.is_silent else 0
            raise
        self.silences = 0
        return found

    async def persistently(self, url: str, limit: int, until: float) -> bytes:
        """Not beyond the end of its time: then what it said last is what is told."""
        rests = [self.patience.rest * 2**n for n in range(self.patience.tries - 1)]
        for rest in rests:
            try:
                return await self.once(url, limit)
            except Passing as passing:
                pause = min(max(rest, passing.after), self.patience.longest_rest)
                if asyncio.get_running_loop().time() + pause >= until:
                    raise
                await asyncio.sleep(pause)
        return await self.once(url, limit)

    async def once(self, url: str, limit: int) -> bytes:
        try:
            async with self.client.stream("GET", url) as response:
                require_good(response)
                return await whole(response, limit)
        except httpx.TooManyRedirects:
            raise Missing("it redirects in a circle, or too often") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            is_silent = isinstance(error, httpx.ConnectError | httpx.TimeoutException)
            raise Passing(f"it cannot be asked: {type(error).__name__}", is_silent=is_silent) from error


def require_good(response: httpx.Response) -> None:
    if response.status_code == 200:
        return
    why = f"it answered {response.status_code}"
    if response.status_code in PASSING or response.status_code >= 500:
        asked = pauses.asked(response)
        raise Passing(why, asked.total_seconds() if asked else 0.0)
    raise Missing(why)


async def whole(response: httpx.Response, limit: int) -> bytes:
    found = bytearray()
    async for piece in response.aiter_bytes():
        found += piece
        if len(found) > limit:
            raise Missing(f"it sends more than {limit:,} bytes, which nobody reads")
    return bytes(found)


@asynccontextmanager
async def reached(urls: Sequence[str], patience: Patience) -> AsyncIterator[list[Gateway]]:
    async with httpx.AsyncClient(
        headers=HEADERS,
        timeout=httpx.Timeout(patience.whole, connect=patience.connect),
        limits=httpx.Limits(max_connections=None),
        follow_redirects=True,
        max_redirects=REDIRECTS,
    ) as client:
        yield [Gateway(url, client, patience) for url in urls]
