"""All pictures of a user in one answer, as JSON: its length is known before, and of the pictures a chunk at a time is in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import msgspec
import structlog
from msgspec import Struct

from glisk.api.results import wrapped
from glisk.errors import ObjectDamaged, ObjectMissing
from glisk.repositories.file_repository import File, FileRepository
from glisk.storage.objects import Objects

log = structlog.get_logger()

MOST = 64 * 1024 * 1024  # bytes of pictures in one answer; the rest comes with the next
DATA, NO_DATA, END = b',"data":"', b',"data":null}', b'"}'


class Entry(Struct, frozen=True):
    """`head`: what comes before the bytes."""

    file: File
    head: bytes
    has_bytes: bool

    @property
    def length(self) -> int:
        data = len(DATA) + 4 * -(-self.file.size // 3) + len(END) if self.has_bytes else len(NO_DATA)
        return len(self.head) + data


class Album:
    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.damaged: set[str] = set()  # found out too late to say so; who asks again is told

    async def entry(self, file: File) -> Entry:
        told = {"key": file.key, "name": file.name, "contentType": file.mime, "size": file.size}
        has_bytes = file.object_key not in self.damaged and await self.objects.size(file.object_key) == file.size
        if not has_bytes:
            log.error("the bytes of a file are lost", file=file.key, object=file.object_key)
        return Entry(file, msgspec.json.encode(told)[:-1], has_bytes)

    async def written(self, entries: Sequence[Entry]) -> AsyncIterator[bytes]:
        mark = b"["
        for entry in entries:
            yield mark
            mark = b","
            async for chunk in self.one(entry):
                yield chunk
        yield b"]" if entries else b"[]"

    async def one(self, entry: Entry) -> AsyncIterator[bytes]:
        if not entry.has_bytes:
            yield entry.head + NO_DATA
            return
        try:
            if (chunks := await self.objects.open(entry.file.object_key)) is None:
                raise ObjectMissing(f"It was {entry.file.object_key} a moment ago.")
            async for chunk in wrapped(entry.head + DATA, chunks):
                yield chunk
        except ObjectDamaged:
            self.damaged.add(entry.file.object_key)
            raise


@dataclass(frozen=True, slots=True)
class Handing:
    """Files on their way to whoever asked for them. `is_kept`: for a while, should they want them again."""

    files: FileRepository
    given: Sequence[File]
    is_kept: bool

    async def begin(self) -> None:
        """Nothing deletes what was not delivered; what was, stays for as long as it was to stay."""

    async def end(self, *, is_whole: bool) -> None:
        if is_whole:
            await self.files.deliver(self.given, is_kept=self.is_kept)

    async def undo(self) -> None:
        await self.files.undo(self.given)


def fitting(files: Sequence[File]) -> list[File]:
    """As many as one answer holds, at least one."""
    room, some = MOST, list[File]()
    for file in files:
        room -= file.size
        if some and room < 0:
            break
        some.append(file)
    return some


def length(entries: Sequence[Entry]) -> int:
    return sum(entry.length for entry in entries) + len(b"[]") + max(0, len(entries) - 1)
