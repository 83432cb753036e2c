"""The picture of a token: as it was stored when it was drawn, else fetched from where its provider put it, and stored now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
from msgspec import Struct

from glisk.errors import NotArrived, ObjectDamaged, ObjectMissing, ProviderFailed
from glisk.images.mark import presentable
from glisk.images.sniff import sniff
from glisk.providers.download import Downloads
from glisk.storage.objects import Objects

GONE = (403, 404, 410)  # links expire with any of these, and nobody can be asked for another
BRING_BACK = "Bring it back into the storage of images from a backup, then: glisk tokens retry"


class Picture(Struct, frozen=True):
    """`facts`: what the row does not know of it yet."""

    data: bytes
    key: str
    facts: Mapping[str, Any]


class Pictures:
    def __init__(self, objects: Objects) -> None:
        self.objects, self.downloads = objects, Downloads()

    async def of(self, row: Mapping[str, Any]) -> Picture:
        """Raises ObjectMissing when it is nowhere any more, NotArrived when its host does not answer, and StorageError."""
        if key := row["image_key"]:
            try:
                data = await self.objects.get(key)
            except ObjectDamaged:
                data = None
            if data is not None:
                return Picture(data, key, {})
        return await self.fetched(row)

    async def fetched(self, row: Mapping[str, Any]) -> Picture:
        """Marked, so that it is the same file as the one that was lost, if one was."""
        try:
            found = await self.downloads.fetched(row["image_url"])
            data = await asyncio.to_thread(presentable, found)
        except NotArrived as error:
            if is_gone(error):
                raise lost(row, "is no picture any more") from error
            raise
        except (ProviderFailed, ValueError, httpx.InvalidURL) as error:
            raise lost(row, "is no picture") from error
        kind = sniff(data)
        assert kind, "what could be marked is of a kind we know"
        stored = await self.objects.put(data, kind.mime, kind.extension)
        if row["image_key"] not in (None, stored.key):
            raise lost(row, "is another picture by now")
        facts = {"image_key": stored.key, "image_sha256": bytes.fromhex(stored.sha256), "image_mime": kind.mime}
        return Picture(data, stored.key, facts)

    async def close(self) -> None:
        await self.downloads.close()


def is_gone(error: NotArrived) -> bool:
    """As its host says, which is not just away."""
    return isinstance(error.__cause__, httpx.HTTPStatusError) and error.__cause__.response.status_code in GONE


def lost(row: Mapping[str, Any], instead: str) -> ObjectMissing:
    stored = f"{row['image_key']} is lost, and at" if row["image_key"] else "At"
    return ObjectMissing(
        f"{stored} {row['image_url'][:200]} there {instead}.", fix=BRING_BACK if row["image_key"] else ""
    )
