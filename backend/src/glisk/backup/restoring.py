"""Reads a backup back, into a place where nothing is: checked as a whole first, and the database last, so that what fails can be
done again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from glisk.backup import archive, database
from glisk.backup.archive import CHUNK, ROOMS, Head, Told
from glisk.backup.saving import CHAIN, DUMP, FILES
from glisk.dev.locks import make_directory
from glisk.errors import NotEmpty
from glisk.settings import Settings
from glisk.storage.keys import parsed
from glisk.storage.objects import Objects
from glisk.values import text

KEPT_FOR_US = (*FILES, *CHAIN)


def checked(file: Path, told: Told) -> Head:
    """Raises BackupUnusable, with nothing written."""
    head = archive.checked(file, told)
    database.require_known(head.schema)
    return head


async def require_empty(settings: Settings, url: str, head: Head) -> None:
    """Objects may be there: their names say what is in them, so that what was begun can be gone on with."""
    await database.require_empty(url)
    for name in KEPT_FOR_US:
        if name.startswith("chain/") and not wants_chain(settings, head):
            continue
        if (settings.data_dir / name).exists():
            raise NotEmpty(f"There is {settings.shown_dir / name}.")


async def restore(settings: Settings, url: str, file: Path, head: Head, told: Told) -> None:
    """Of a file that was checked, into a place that is empty. If it fails, nothing of it is in use."""
    rooms = {ROOMS[0]: Objects.of(settings), ROOMS[1]: Objects.of(settings, room=ROOMS[1])}
    with undoing() as undo:
        dump: Path | None = None
        for name, size, stream in archive.members(file):
            room, _, key = name.partition("/")
            if room in rooms:
                await put(rooms[room], key, stream.read())
            elif name == DUMP:
                dump = write(settings.data_dir / ".restoring.dump", stream)
                undo.callback(dump.unlink, missing_ok=True)
            elif name in KEPT_FOR_US and (not name.startswith("chain/") or wants_chain(settings, head)):
                undo.callback(write(settings.data_dir / name, stream).unlink, missing_ok=True)
            told(name, size)
        assert dump, "it was checked"
        await asyncio.to_thread(database.restore, url, dump)
        await database.settle_in(url)
        dump.unlink()


def wants_chain(settings: Settings, head: Head) -> bool:
    """That of the backup is ours to run, unless the operator follows another one."""
    return head.has_chain and not text(settings.rpc_urls)


async def put(objects: Objects, key: str, data: bytes) -> None:
    name = parsed(key)
    await objects.put(data, name.mime, name.extension)


def write(path: Path, stream: IO[bytes]) -> Path:
    make_directory(path.parent, 0o700)
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        while chunk := stream.read(CHUNK):
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return path


@contextmanager
def undoing() -> Iterator[ExitStack]:
    """What was called back for is done only if the block fails."""
    with ExitStack() as stack:
        yield stack
        stack.pop_all()
