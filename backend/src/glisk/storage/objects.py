"""Images and other bytes, kept under the hash of their content: in a directory, or in S3."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

import obstore
from obstore.exceptions import BaseError, GenericError

from glisk.errors import ObjectDamaged, StorageDown, StorageError
from glisk.settings import Settings
from glisk.storage.keys import SHAPE, Key, named, parsed
from glisk.storage.local import Directory
from glisk.storage.s3 import Bucket, Patience

if TYPE_CHECKING:
    from obstore import GetResult
    from obstore.store import ObjectStore

CHUNK = 256 * 1024
LISTED = 1000


@dataclass(frozen=True, slots=True)
class Stored:
    key: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes from `start` up to, not including, `stop`."""

    start: int
    stop: int


class Place(Protocol):
    """Where the bytes lie: what differs between a directory and a bucket."""

    @property
    def store(self) -> ObjectStore: ...

    async def put(self, key: Key, data: bytes, mime: str) -> None: ...

    def link(self, key: Key, expires: timedelta) -> str | None: ...

    def trouble(self, error: Exception) -> StorageError: ...


class Objects:
    """Every method raises a StorageError, and BadObjectKey for a key that is not ours."""

    def __init__(self, place: Place, address: str, patience: Patience) -> None:
        self.place, self.url, self.patience = place, f"{address}/objects", patience

    @classmethod
    def of(cls, settings: Settings, patience: Patience | None = None, room: str = "") -> Objects:
        """`room`: for what is not to lie among the images."""
        patience = patience or Patience()
        folder = settings.data_dir / (room or "objects")
        place = Bucket(settings, patience, room) if settings.s3_bucket else Directory(folder)
        return cls(place, settings.address, patience)

    async def put(self, data: bytes, mime: str, extension: str) -> Stored:
        """When this returns, the object is safe. Whether it was there before makes no difference."""
        key = await self.key_of(data, extension)
        async with self.asking():
            await self.place.put(key, data, mime)
        return Stored(str(key), key.sha256, len(data))

    async def key_of(self, data: bytes, extension: str) -> Key:
        """What it will be called."""
        return named(await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest()), extension)

    async def get(self, key: str) -> bytes | None:
        if (chunks := await self.open(key)) is None:
            return None
        async with self.asking():
            return b"".join([chunk async for chunk in chunks])

    async def open(self, key: str, part: Part | None = None) -> AsyncIterator[bytes] | None:
        """The object in chunks. The last chunk of a whole object comes only if all of them are what was put."""
        name = parsed(key)
        if (found := await self.found(name, part)) is None:
            return None
        chunks = self.chunks(found)
        if part:
            return cut(chunks, part.start - found.range[0], part.stop - part.start)
        return checked(chunks, name)

    async def listed(self) -> AsyncIterator[str]:
        """The keys of all that is there, in no order; what is not ours is passed over."""
        listing = obstore.list(self.place.store, chunk_size=LISTED).__aiter__()
        while True:
            async with self.asking():
                some = await anext(listing, None)
            if some is None:
                return
            for found in some:
                if SHAPE.fullmatch(found["path"]):
                    yield found["path"]

    async def size(self, key: str) -> int | None:
        name = parsed(key)
        async with self.asking():
            try:
                return (await obstore.head_async(self.place.store, str(name)))["size"]
            except FileNotFoundError:
                pass  # the answer to this question has no words; to the next it has, should the bucket be missing
        return None if (found := await self.found(name)) is None else found.meta["size"]

    async def exists(self, key: str) -> bool:
        return await self.size(key) is not None

    async def delete(self, key: str) -> None:
        name = parsed(key)
        async with self.asking():
            try:
                await obstore.delete_async(self.place.store, str(name))
            except FileNotFoundError as error:
                raise_if_bucket_is_missing(error)

    def link(self, key: str, expires: timedelta) -> str:
        """For whoever has no key to the bucket. In a directory nothing expires, since we serve it ourselves."""
        return self.place.link(parsed(key), expires) or self.address(key)

    def address(self, key: str) -> str:
        """Where our own server shows it, for as long as it exists."""
        return f"{self.url}/{parsed(key)}"

    async def found(self, name: Key, part: Part | None = None) -> GetResult | None:
        async with self.asking():
            try:
                return await self.asked(name, part)
            except FileNotFoundError as error:
                raise_if_bucket_is_missing(error)
                return None

    async def asked(self, name: Key, part: Part | None) -> GetResult:
        if part is None:
            return await obstore.get_async(self.place.store, str(name))
        try:
            return await obstore.get_async(self.place.store, str(name), options={"range": (part.start, part.stop)})
        except GenericError as error:
            if "non-partial" not in str(error):
                raise
            return await self.asked(name, None)  # some servers send a part as if it were the whole

    async def chunks(self, found: GetResult) -> AsyncIterator[bytes]:
        stream = aiter(found.stream(min_chunk_size=CHUNK))
        while True:
            async with self.asking():
                chunk = await anext(stream, None)
            if chunk is None:
                return
            yield bytes(chunk)

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self.patience.answer.total_seconds()):
                yield
        except TimeoutError as error:
            raise StorageDown(f"It was silent for {self.patience.answer.total_seconds():g} s.") from error
        except (OSError, BaseError) as error:
            raise self.place.trouble(error) from error


def raise_if_bucket_is_missing(error: FileNotFoundError) -> None:
    if "NoSuchBucket" in str(error):
        raise error


async def checked(chunks: AsyncIterator[bytes], name: Key) -> AsyncIterator[bytes]:
    """A reader who gets less than was promised knows it; one who gets something else does not."""
    digest, held = hashlib.sha256(), b""
    async for chunk in chunks:
        if held:
            yield held
        digest.update(chunk)
        held = chunk
    if digest.hexdigest() != name.sha256:
        raise ObjectDamaged(f"It is {name}.")
    yield held


async def cut(chunks: AsyncIterator[bytes], skip: int, length: int) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        piece = chunk[skip : skip + length]
        skip, length = max(0, skip - len(chunk)), length - len(piece)
        if piece:
            yield piece
        if not length:
            return
