"""Who is asking? The operator, by a key or from this machine; a user, by theirs; anybody else sees what is public.

A server that listens on this machine alone, for which no public address is set, takes whoever reaches it for the operator. Behind a
proxy everybody comes from this machine, so for what a proxy passes on, and beyond this machine, a key is wanted.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fastapi import Request
from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from glisk.api import refusal
from glisk.api.paces import Paces
from glisk.errors import CrossSite, KeyRefused, KeyWanted, RequestError, StrangeHost, UserKeyWanted
from glisk.repositories.key_repository import OPERATOR, Key, KeyRepository
from glisk.settings import Settings

COOKIE = "glisk_key"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
HERE = ("localhost", "127.0.0.1", "[::1]")  # this machine, by its own names
PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")


class Visitor(Struct, frozen=True):
    """`name`: what the audit log calls them. Who is no operator and has a `user_id` is that user."""

    name: str
    is_operator: bool
    key: Key | None = None

    @property
    def user_id(self) -> str | None:
        """Whose things they see. None: of an operator, everybody's."""
        return self.key.user_id if self.key else None


PUBLIC = Visitor("visitor", is_operator=False)
LOCAL = Visitor("this machine", is_operator=True)


@dataclass(frozen=True, slots=True)
class Door:
    """`is_local`: only this machine can reach us."""

    keys: KeyRepository
    is_local: bool
    paces: Paces = field(default_factory=Paces)

    async def visitor(self, request: Request) -> Visitor:
        """For what everybody may see, some of them more than others. A key that is not known is no key here."""
        try:
            return await self.known(request)
        except KeyRefused:
            return PUBLIC

    async def operator(self, request: Request) -> Visitor:
        """For what only the operator may see or do."""
        found = await self.known(request)
        if not found.is_operator:
            raise KeyWanted
        return found

    async def person(self, request: Request) -> Visitor:
        """For what belongs to somebody: a user, or the operator, who acts for any. Without a key only on this machine, and only
        until there is the first one: from then on people are told apart. Some of what they ask for is sent once: a page of another
        site must not fetch it in their name, be it by a mere GET."""
        if not has_bearer(request) and not is_same_site(request):
            raise CrossSite
        found = await self.known(request)
        if found.key is None and (not found.is_operator or await self.keys.has_any()):
            raise UserKeyWanted
        if not found.is_operator and found.user_id is None:
            raise UserKeyWanted("This one is a worker's.")
        self.paces.take(found.key)
        return found

    async def known(self, request: Request) -> Visitor:
        if not (secret := key_in(request)):
            return LOCAL if self.is_local and not is_passed_on(request) else PUBLIC
        if (key := await self.keys.find(secret)) is None:
            raise KeyRefused
        return Visitor(key.name, is_operator=key.scope == OPERATOR, key=key)


def is_passed_on(request: Request) -> bool:
    """By a proxy, which is on this machine while whoever asks may be anywhere."""
    return any(name in request.headers for name in PASSED_ON)


def key_in(request: Request) -> str:
    _, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if has_bearer(request) else request.cookies.get(COOKIE, "")


def has_bearer(request: Request) -> bool:
    """No browser sends it by itself."""
    return request.headers.get("authorization", "").partition(" ")[0].lower() == "bearer"


def is_local(settings: Settings) -> bool:
    return is_loopback(settings.host) and is_loopback(urlsplit(settings.address).hostname or "")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host in HERE


class Guard:
    """Before every route. A page of another site, open in the operator's browser, must not act in their name; nor may it reach us
    under a name of its own that it has let point at this machine."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (problem := self.problem(request := Request(scope, receive))):
            await (await refusal.answer(request, problem))(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def problem(self, request: Request) -> RequestError | None:
        if self.hosts is not None and host_in(request) not in self.hosts:
            return StrangeHost()
        return None if request.method in SAFE_METHODS or is_same_site(request) else CrossSite()


def known_hosts(settings: Settings) -> frozenset[str] | None:
    """None: any. Beyond this machine a key is wanted, which no other site's page has: cookies are bound to the name they were given for."""
    if not is_local(settings):
        return None
    return frozenset({*HERE, settings.host, urlsplit(settings.address).hostname or settings.host})


def host_in(request: Request) -> str:
    given = request.headers.get("host", "")
    return given.rpartition(":")[0] if given.rpartition(":")[2].isdecimal() and ":" in given else given


def is_same_site(request: Request) -> bool:
    """Browsers say where a request comes from; whatever says nothing is none."""
    if site := request.headers.get("sec-fetch-site"):
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")
