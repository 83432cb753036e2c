"""Fetches what strangers name, and sends them what they asked for: never from or to a place that only we can reach."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ssl import SSLContext
from typing import TypeAlias

import httpx

from glisk import __version__
from glisk.errors import (
    FetchedTooLarge,
    FetchedTooSlow,
    FetchedWrongType,
    FetchError,
    NotFetched,
    RedirectedTooOften,
    UrlForbidden,
    UrlUnusable,
)
from glisk.networks import Address, Allowed, address_in, allowed_in, is_public
from glisk.settings import Settings

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]

LONGEST_URL = 2048
MOST_REDIRECTS = 3
MOST_ADDRESSES = 4  # of one name that are tried
CONNECT_S = 5.0
REDIRECTS = (301, 302, 303, 307, 308)
PORTS = {80, 443}  # and all that need no privileges: who answers below is a mail server or the like
UNPRIVILEGED = 1024
RESOLVERS = 4


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """`seconds`: for all of it, redirects too. `types`: like image/png or image/*; none: any."""

    most_bytes: int
    seconds: float = 30.0
    types: tuple[str, ...] = ()

    def takes(self, mime: str) -> bool:
        return not self.types or any(mime == each or matches(mime, each) for each in self.types)


def matches(mime: str, pattern: str) -> bool:
    return pattern.endswith("/*") and mime.startswith(pattern[:-1])


@dataclass(frozen=True, slots=True)
class Fetched:
    """`url`: where it was in the end. `mime`: as its server says, without parameters."""

    body: bytes
    mime: str
    url: str


class Strangers:
    """The name is resolved once, every address of it is checked, and the connection goes to one that was: a name that changes its
    mind in between changes nothing. No cookies, no proxies, no credentials, no connection kept for the next."""

    def __init__(
        self, allowed: Allowed | None = None, *, resolve: Resolve | None = None, verify: SSLContext | bool = True
    ) -> None:
        self.allowed, self.verify = allowed or Allowed(), verify
        self.resolvers = ThreadPoolExecutor(RESOLVERS, thread_name_prefix="resolve")
        self.resolve: Resolve = resolve or self.looked_up
        self.transport: httpx.AsyncHTTPTransport | None = None

    @classmethod
    def of(cls, settings: Settings) -> Strangers:
        return cls(allowed_in(settings.fetch_allow))

    async def fetch(self, url: str, limits: FetchLimits) -> Fetched:
        """Raises a FetchError, and nothing else."""
        body = bytearray()
        source = await self.save(url, limits, body.extend)
        return Fetched(bytes(body), source.mime, source.url)

    async def save(self, url: str, limits: FetchLimits, write: Callable[[bytes], object]) -> Fetched:
        """Part by part, for what is too large for the memory; the body that is returned is empty."""
        try:
            async with asyncio.timeout(limits.seconds), self.found(url) as (answer, where):
                mime = type_of(answer)
                require_fit(answer, mime, limits)
                await written(answer, limits, write)
                return Fetched(b"", mime, where)
        except TimeoutError as error:
            raise FetchedTooSlow(f"It was given {limits.seconds:g} s.") from error

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], *, seconds: float = 10.0) -> int:
        """The status of the answer, of which nothing else is read. Redirects are not followed."""
        try:
            async with asyncio.timeout(seconds), self.asked("POST", url_of(url), headers, body) as answer:
                return answer.status_code
        except TimeoutError as error:
            raise FetchedTooSlow(f"No answer within {seconds:g} s.") from error

    @asynccontextmanager
    async def found(self, url: str) -> AsyncIterator[tuple[httpx.Response, str]]:
        """Behind its redirects, each of which is checked like the first."""
        where = url_of(url)
        for _ in range(MOST_REDIRECTS + 1):
            async with self.asked("GET", where, {"accept-encoding": "identity"}) as answer:
                if answer.status_code not in REDIRECTS:
                    require_success(answer)
                    yield answer, str(where)
                    return
                where = url_of(answer.headers.get("location", ""), where)
        raise RedirectedTooOften(f"More than {MOST_REDIRECTS} times.")

    @asynccontextmanager
    async def asked(
        self, method: str, url: httpx.URL, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncIterator[httpx.Response]:
        try:
            answer = await self.answer(method, url, headers, body)
            try:
                yield answer
            finally:
                await answer.aclose()
        except httpx.TimeoutException as error:
            raise FetchedTooSlow(f"{url.host} did not answer.") from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise NotFetched(f"{url.host}: {str(error) or type(error).__name__}") from error

    async def answer(self, method: str, url: httpx.URL, headers: Mapping[str, str], body: bytes) -> httpx.Response:
        """From the first of its addresses that takes the connection."""
        *others, last = (await self.checked(url))[:MOST_ADDRESSES]
        for address in others:
            try:
                return await self.sent(method, url, address, headers, body)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self.sent(method, url, last, headers, body)

    async def sent(
        self, method: str, url: httpx.URL, address: Address, headers: Mapping[str, str], body: bytes
    ) -> httpx.Response:
        """To this very address; the certificate must still be that of the name."""
        named = {"host": url.netloc.decode("ascii"), "user-agent": f"Glisk/{__version__}", **headers}
        terms = {"sni_hostname": url.host, "timeout": httpx.Timeout(None, connect=CONNECT_S).as_dict()}
        request = httpx.Request(
            method, url.copy_with(host=str(address)), headers=named, content=body or None, extensions=terms
        )
        return await self.line().handle_async_request(request)

    def line(self) -> httpx.AsyncHTTPTransport:
        """Made when it is first needed: reading the certificates takes its time. No connection is used twice: one that was verified
        for a name must not serve another at the same address."""
        if self.transport is None:
            kept = httpx.Limits(max_keepalive_connections=0)
            self.transport = httpx.AsyncHTTPTransport(verify=self.verify, trust_env=False, limits=kept)
        return self.transport

    async def checked(self, url: httpx.URL) -> Sequence[Address]:
        """All of them, or none: a name with one private address is refused whole."""
        port = url.port or (443 if url.scheme == "https" else 80)
        addresses = await self.resolve(url.host, port)
        if not addresses:
            raise NotFetched(f"{url.host} has no address.")
        strange = [each for each in addresses if not self.allowed.allows(url.host, each)]
        if not all(is_public(each) for each in strange):
            raise UrlForbidden(f"{url.host} is not public.")
        if strange and port not in PORTS and port < UNPRIVILEGED:
            raise UrlForbidden(f"No web server is looked for at port {port}.")
        return addresses

    async def looked_up(self, host: str, port: int) -> Sequence[Address]:
        """By threads of our own: whoever names a server that never answers must not hold up those who read files."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self.resolvers, addresses_of, host, port)
        except (OSError, UnicodeError) as error:
            raise NotFetched(f"{host} is not known.") from error
        return [address_in(each) for each in found]

    async def close(self) -> None:
        self.resolvers.shutdown(wait=False, cancel_futures=True)
        if self.transport is not None:
            await self.transport.aclose()


def addresses_of(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(where[0]) for *_, where in found))


def url_of(text: str, base: httpx.URL | None = None) -> httpx.URL:
    if not text or len(text) > LONGEST_URL:
        raise UrlUnusable(f"1 to {LONGEST_URL} characters are wanted.")
    try:
        url = base.join(text) if base else httpx.URL(text)
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise UrlUnusable(str(error)) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise UrlUnusable("It must begin with https:// or http://, and name a server.")
    if url.userinfo:
        raise UrlUnusable("It must not hold a user or a password.")
    return url


def require_success(answer: httpx.Response) -> None:
    if not answer.is_success:
        problem = NotFetched(f"It answered {answer.status_code}.", status=answer.status_code)
        problem.may_pass = answer.status_code >= 500 or answer.status_code in (408, 429)
        raise problem


def type_of(answer: httpx.Response) -> str:
    return str(answer.headers.get("content-type", "")).partition(";")[0].strip().lower()


def require_fit(answer: httpx.Response, mime: str, limits: FetchLimits) -> None:
    """Before anything is read. What is packed is not unpacked: a little could become very much."""
    if not limits.takes(mime):
        raise FetchedWrongType(f"It is {mime or 'without a type'}, and should be {' or '.join(limits.types)}.")
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise FetchedWrongType("It is packed, though that was not asked for.")
    told = answer.headers.get("content-length", "")
    if told.isdecimal() and int(told) > limits.most_bytes:
        raise too_large(limits)


async def written(answer: httpx.Response, limits: FetchLimits, write: Callable[[bytes], object]) -> None:
    size = 0
    async for part in answer.aiter_raw():
        size += len(part)
        if size > limits.most_bytes:
            raise too_large(limits)
        write(part)


def too_large(limits: FetchLimits) -> FetchError:
    return FetchedTooLarge(f"At most {limits.most_bytes:,} bytes are taken.")
