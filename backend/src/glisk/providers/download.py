"""Fetches a picture from where a provider has put it: streamed, and never more than a cap."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re

import httpx

from glisk.errors import NotArrived, ProviderFailed
from glisk.images.whole import is_whole

LIMIT = 40 * 1024 * 1024
TIMEOUT = httpx.Timeout(30.0, connect=5.0)
DEADLINE_S = 120.0  # for all of it: a server that sends a byte now and then must not hold us for ever
TRIES = 3
AT_ONCE = 8
REST_S = 0.25


class Downloads:
    """So many at once: the pictures of hundreds of orders must not fill the memory, nor the line."""

    def __init__(self) -> None:
        self.client, self.turns = httpx.AsyncClient(), asyncio.Semaphore(AT_ONCE)

    async def fetched(self, url: str) -> bytes:
        async with self.turns:
            return await fetched(self.client, url)

    async def close(self) -> None:
        await self.client.aclose()


async def fetched(client: httpx.AsyncClient, url: str) -> bytes:
    """A picture that did not arrive is still there, for all we know, whatever its host says: whoever asks the provider
    learns whether it was removed. What arrived in its place, a page or a half, is asked for again before it is taken for
    what was drawn."""
    if url.startswith("data:"):
        return inline(url)
    found: bytes | None = None
    problem: Exception | None = None
    for rest in (REST_S * 2**n for n in range(TRIES)):
        try:
            async with asyncio.timeout(DEADLINE_S):
                if is_whole(found := await once(client, url)):
                    return found
        except (httpx.HTTPError, TimeoutError) as error:
            problem = error
        await asyncio.sleep(rest)
    if found is not None:
        return found  # so it is
    said = str(problem) or type(problem).__name__
    raise NotArrived(f"The picture did not arrive: {said}", provider_code="download") from problem


async def once(client: httpx.AsyncClient, url: str) -> bytes:
    """Without our token: the host of the pictures is not the one of the API."""
    async with client.stream("GET", url, follow_redirects=True, timeout=TIMEOUT) as response:
        response.raise_for_status()
        found = bytearray()
        async for part in response.aiter_bytes():
            found += part
            if len(found) > LIMIT:
                raise ProviderFailed(f"The picture is larger than {LIMIT >> 20} MB", category="image")
        return bytes(found)


def expired(why: str) -> ProviderFailed:
    return ProviderFailed(f"The picture is no longer there: {why}", category="expired", provider_code="expired")


def inline(url: str) -> bytes:
    head, _, body = url.partition(",")
    try:
        if not re.search(r";base64$", head):
            raise ValueError("not base64")
        return base64.b64decode(body, validate=True)
    except (ValueError, binascii.Error) as error:
        raise ProviderFailed(f"The picture cannot be read: {error}", category="image") from error
