"""Where the pictures of an edit come from: written out in the request, kept by us, or at an address of a stranger's."""

from __future__ import annotations

import base64
import binascii
import re

from glisk.errors import EditUnusable, FetchError, ObjectDamaged
from glisk.providers.strangers import FetchLimits, Strangers
from glisk.storage.keys import SHAPE
from glisk.storage.objects import Objects

LARGEST = 40 * 1024 * 1024
# What it is is told by its first bytes later; here only pages and the like are left out.
LIMITS = FetchLimits(LARGEST, types=("image/*", "application/octet-stream", "binary/octet-stream", ""))
INLINE = re.compile(r"data:[^,]{0,100};base64,")


class Sources:
    """What lies with us is never asked for over HTTP, whatever address it is given by."""

    def __init__(self, objects: Objects, strangers: Strangers) -> None:
        self.objects, self.strangers = objects, strangers

    async def data(self, place: str, what: str) -> bytes:
        """`what` it is to the user: EditUnusable names it. A FetchError only if another try may go better."""
        if place.startswith("data:"):
            return inline(place, what)
        if key := self.own_key(place):
            return await self.kept(key, what)
        if re.match(r"https?://", place, re.IGNORECASE):
            return await self.fetched(place, what)
        raise EditUnusable(f"{what} must be a data URL, an http(s) URL or the key of an object, not {place[:60]!r}")

    def own_key(self, place: str) -> str | None:
        key = place.removeprefix(f"{self.objects.url}/")
        return key if SHAPE.fullmatch(key) else None

    async def kept(self, key: str, what: str) -> bytes:
        try:
            found = await self.objects.get(key)
        except ObjectDamaged as error:
            raise EditUnusable(f"{what} cannot be used: {error}") from error
        if found is None:
            raise EditUnusable(f"{what} is not stored here any more: {key}")
        return found

    async def fetched(self, place: str, what: str) -> bytes:
        try:
            return (await self.strangers.fetch(place, LIMITS)).body
        except FetchError as error:
            if error.may_pass:
                raise
            raise EditUnusable(f"{what} cannot be fetched: {error}") from error


def inline(place: str, what: str) -> bytes:
    head = INLINE.match(place)
    if head is None or len(place) > LARGEST * 2:
        raise EditUnusable(f"{what} cannot be read: a data URL like data:image/png;base64,… is wanted")
    try:
        return base64.b64decode(place[head.end() :], validate=True)
    except (ValueError, binascii.Error) as error:
        raise EditUnusable(f"{what} cannot be read: {error}") from error
