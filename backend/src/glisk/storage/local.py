"""Objects as files of a directory. Written by ourselves: obstore replaces files atomically but never waits for the disk, and
what the database calls stored must outlive a power cut."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import time
import uuid
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from obstore.store import LocalStore

from glisk.errors import StorageDown, StorageError, StorageForbidden, StorageFull, StorageRefused
from glisk.storage.keys import Key

ABANDONED = timedelta(hours=1)  # nobody writes one file for that long
KINDS: dict[int, type[StorageError]] = {
    errno.ENOSPC: StorageFull,
    errno.EDQUOT: StorageFull,
    errno.EFBIG: StorageFull,
    errno.EACCES: StorageForbidden,
    errno.EPERM: StorageForbidden,
    errno.EROFS: StorageForbidden,
    errno.ENOTDIR: StorageRefused,
    errno.EISDIR: StorageRefused,
    errno.EEXIST: StorageRefused,
}


class Directory:
    """The place for objects when nobody has set up S3."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.safe: set[Path] = set()  # directories whose own names are known to be on the disk
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.trouble(error) from error
        self.store = LocalStore(root)

    async def put(self, key: Key, data: bytes, mime: str) -> None:
        await asyncio.to_thread(self.write, self.root / str(key), data)

    def write(self, target: Path, data: bytes) -> None:
        """Returns when the file, its name and the names of its directories are on the disk."""
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.parent not in self.safe:
            sweep(target.parent)
            for parent in (self.root.parent, self.root, target.parent.parent):
                sync(parent)
            self.safe.add(target.parent)
        if holds(target, data):
            sync(target)  # somebody may have copied it here
        else:
            replace(target, data)
        sync(target.parent)

    def link(self, key: Key, expires: timedelta) -> str | None:
        return None

    def trouble(self, error: Exception) -> StorageError:
        number = error.errno if isinstance(error, OSError) and error.errno else number_in(str(error))
        kind = KINDS.get(number or 0, StorageDown)
        return kind(f"{self.root}: {os.strerror(number) if number else first_line(str(error))}.")


def holds(target: Path, data: bytes) -> bool:
    """The name alone proves nothing: a crash may have left less of it, or as many zeros."""
    try:
        return target.stat().st_size == len(data) and target.read_bytes() == data
    except FileNotFoundError:
        return False


def replace(target: Path, data: bytes) -> None:
    """Seen whole or not at all. Two who do this at once do no harm: both bring the same bytes."""
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def sweep(directory: Path) -> None:
    """Removes what a killed process has left half written."""
    for part in directory.glob(".*.part"):
        with suppress(FileNotFoundError):  # whoever was writing it has put it in its place just now
            if time.time() - part.stat().st_mtime > ABANDONED.total_seconds():
                part.unlink(missing_ok=True)


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def number_in(words: str) -> int | None:
    """obstore tells the system's error only in words."""
    return int(match[1]) if (match := re.search(r"\bcode: (\d+)", words)) else None


def first_line(words: str) -> str:
    return words.partition("\n")[0][:300].rstrip(".")
