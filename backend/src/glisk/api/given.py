"""Pictures as people give them: written out as a data URL, at an address of somebody's, or kept here already.

What is written out is stored, so that no job carries it around; what is kept here must be theirs to see. What lies elsewhere is
fetched by whoever needs it, who also knows where we may not go.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from fastapi import Request

from glisk.api.access import HERE, Visitor, is_loopback
from glisk.api.seeing import MaySee
from glisk.errors import BadQuery, BodyTooLarge
from glisk.images.sniff import sniff
from glisk.images.whole import is_whole
from glisk.repositories import leftovers
from glisk.repositories.file_repository import FileRepository
from glisk.repositories.own import Own
from glisk.storage.keys import SHAPE
from glisk.storage.objects import Objects

LONGEST_URL = 2000
INLINE = re.compile(r"data:[^,]{0,100};base64,", re.IGNORECASE)
OBJECTS, FILES = "objects/", "image/raw/"
WANTED = "a PNG, JPEG or WebP is wanted"
FORMS = "a data URL (data:image/png;base64,…), an address (http(s)://…) or the key of a picture of yours is wanted"


@dataclass(frozen=True, slots=True)
class Pictures:
    """`largest`: in bytes. `address`: ours."""

    own: Own
    objects: Objects
    may_see: MaySee
    largest: int
    address: str

    async def place(self, request: Request, visitor: Visitor, field: str, given: str) -> str:
        """Where whoever needs it finds it: the key of an object of ours, or an address. Raises BadQuery, with the field."""
        if given[:5].lower() == "data:":
            return await self.stored(field, await asyncio.to_thread(self.decoded, field, given))
        if (key := await self.own_key(request, visitor, given)) is not None:
            return await self.kept(request, field, key)
        if not is_address(given):
            raise BadQuery(f"{field}: {FORMS}.")
        return given

    def decoded(self, field: str, given: str) -> bytes:
        if not (head := INLINE.match(given)):
            raise BadQuery(f"{field}: {FORMS}.")
        self.require_room(field, (len(given) - head.end()) * 3 // 4 - 2)
        try:
            return base64.b64decode(given[head.end() :], validate=True)
        except (ValueError, binascii.Error):
            raise BadQuery(f"{field}: its data URL is no base64.") from None

    def require_room(self, field: str, size: int) -> None:
        if size > self.largest:
            raise BodyTooLarge(f"{field}: a picture may have {self.largest >> 20} MB.")

    async def stored(self, field: str, data: bytes) -> str:
        """The object's key. Its row is the caller's to write."""
        self.require_room(field, len(data))
        kind = sniff(data)
        if kind is None or not await asyncio.to_thread(is_whole, data):
            raise BadQuery(f"{field}: this is no whole picture; {WANTED}.")
        return (await leftovers.keep(self.own.link.fetch, self.objects, data, kind)).key

    async def own_key(self, request: Request, visitor: Visitor, given: str) -> str | None:
        """None: it is not kept here."""
        path = next((given[len(ours) :] for ours in self.ours(request) if given.startswith(ours)), None)
        if path is not None and path.startswith(FILES):
            return await self.of_file(visitor, unquote(path.removeprefix(FILES)))
        key = given if path is None else path.removeprefix(OBJECTS)
        if SHAPE.fullmatch(key):
            return key
        return await self.of_file(visitor, given) if path is None and "/" in given and "://" not in given else None

    async def of_file(self, visitor: Visitor, key: str) -> str:
        """By its key, USER/NAME. Empty: there is none."""
        of, _, name = key.partition("/")
        is_plain = of.isprintable() and name.isprintable()
        file = await FileRepository(self.own).one(visitor.user_id, of, name, again=False) if is_plain else None
        return file.object_key if file else ""

    def ours(self, request: Request) -> tuple[str, ...]:
        return *(f"{each}/" for each in by_every_name(self.address)), str(request.base_url), "/"

    async def kept(self, request: Request, field: str, key: str) -> str:
        """Announced, so that it is not deleted while it gets another owner."""
        if not key or await self.may_see(request, key) == "nobody":
            raise BadQuery(f"{field}: there is no such picture.")
        await leftovers.announce(self.own.link.fetch, [key])
        if not await self.objects.exists(key):
            raise BadQuery(f"{field}: there is no such picture.")
        return key


def by_every_name(address: str) -> tuple[str, ...]:
    """On its own machine a server has several names."""
    parts = urlsplit(address)
    if not is_loopback(parts.hostname or ""):
        return (address,)
    port = f":{parts.port}" if parts.port else ""
    return tuple(parts._replace(netloc=name + port).geturl() for name in HERE)


def is_address(url: str) -> bool:
    """In shape; whether we may go there is found out by whoever does."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_one and len(url) <= LONGEST_URL and url.isprintable() and " " not in url
