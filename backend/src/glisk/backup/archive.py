"""The file of a backup: a tar whose first member says what it is, and whose last says what must have been in it.

Whatever was cut off, added or changed on the way is noticed before anything of it is used: members are checked against the list
at the end, and objects against their names, which are the hashes of what is in them.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

import msgspec
from msgspec import Struct

from glisk.errors import BackupUnusable, DataUnwritable, DiskFull

FORMAT = 1
HEAD, TAIL = "glisk-backup.json", "contents.json"
CHUNK = 1 << 20
ROOMS = ("objects", "ipfs")
Told: TypeAlias = Callable[[str, int], None]  # a member that was written or checked, and its size


class Head(Struct, frozen=True):
    """`schema`: the revision of the database in it."""

    format: int
    glisk: str
    schema: str
    server: str
    made_at: str
    has_chain: bool


class Member(Struct, frozen=True):
    size: int
    sha256: str


class Contents(Struct, frozen=True):
    """`digest`: over the names and sizes of all members, in their order."""

    members: dict[str, Member]
    objects: int
    bytes: int
    digest: str


class Archive:
    """One that is being written."""

    def __init__(self, tar: tarfile.TarFile, told: Told) -> None:
        self.tar, self.told = tar, told
        self.members: dict[str, Member] = {}
        self.tally = Tally()

    def add(self, name: str, data: bytes) -> None:
        self.write(name, len(data), io.BytesIO(data))
        self.members[name] = Member(len(data), hashlib.sha256(data).hexdigest())

    def add_file(self, name: str, path: Path) -> None:
        size = path.stat().st_size
        with open(path, "rb") as file:
            self.write(name, size, file)
        with open(path, "rb") as file:
            self.members[name] = Member(size, hashlib.file_digest(file, "sha256").hexdigest())

    def add_object(self, room: str, key: str, data: bytes) -> None:
        """Its name says what is in it."""
        self.write(f"{room}/{key}", len(data), io.BytesIO(data))
        self.tally.objects += 1

    def write(self, name: str, size: int, file: IO[bytes]) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        self.tar.addfile(info, file)
        self.tally.count(name, size)
        self.told(name, size)

    def close(self) -> None:
        tally = self.tally
        contents = Contents(self.members, tally.objects, tally.bytes, tally.digest.hexdigest())
        data = msgspec.json.encode(contents)
        for name, last in ((TAIL, data), (f"{TAIL}.sha256", hashlib.sha256(data).hexdigest().encode())):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(last), 0o600
            self.tar.addfile(info, io.BytesIO(last))


class Tally:
    """What has gone by."""

    def __init__(self) -> None:
        self.objects, self.bytes, self.digest = 0, 0, hashlib.sha256()

    def count(self, name: str, size: int) -> None:
        self.bytes += size
        self.digest.update(f"{name} {size}\n".encode())


@contextmanager
def writing(file: Path, told: Told) -> Iterator[Archive]:
    """Under another name until it is whole; readable by nobody else, for there are keys in it."""
    part = file.with_name(f".{file.name}.part")
    try:
        with open(part, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
            with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
                archive = Archive(tar, told)
                yield archive
                archive.close()
            out.flush()
            os.fsync(out.fileno())
        part.replace(file)
    except OSError as error:
        kind = DiskFull if error.errno == errno.ENOSPC else DataUnwritable
        raise kind(f"{file}: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


def checked(file: Path, told: Told) -> Head:
    """All of it is read once. Raises BackupUnusable for what is not whole, and for what is none."""
    try:
        return looked_through(file, told)
    except (tarfile.TarError, msgspec.MsgspecError, EOFError, UnicodeDecodeError, ValueError) as error:
        raise BackupUnusable(f"{file}: {error}.") from error
    except OSError as error:
        raise BackupUnusable(f"{file}: {error.strerror or error}.") from error


def looked_through(file: Path, told: Told) -> Head:
    tally, seen, head, tail = Tally(), dict[str, Member](), None, list[bytes]()
    for name, size, stream in members(file):
        if name in (TAIL, f"{TAIL}.sha256"):
            tail.append(stream.read())
            continue
        found = measured(stream)
        if head is None:
            head = a_head(file, name, found[1])
        room, _, key = name.partition("/")
        if room in ROOMS:
            require(key.rpartition("/")[2].partition(".")[0] == found[0], f"{name} is not what it was.")
            tally.objects += 1
        else:
            seen[name] = Member(size, found[0])
        tally.count(name, size)
        told(name, size)
    require(head is not None and len(tail) == 2, f"{file} is cut off.")
    compare(tail[0], tail[1], seen, tally)
    assert head is not None
    return head


def compare(data: bytes, digest: bytes, seen: dict[str, Member], tally: Tally) -> None:
    require(hashlib.sha256(data).hexdigest().encode() == digest, "Its list of contents is damaged.")
    contents = msgspec.json.decode(data, type=Contents)
    wrong = [name for name in {*contents.members, *seen} if contents.members.get(name) != seen.get(name)]
    require(not wrong, f"{', '.join(sorted(wrong))} is not what it was.")
    same = (contents.objects, contents.bytes, contents.digest) == (tally.objects, tally.bytes, tally.digest.hexdigest())
    require(same, "Something was taken out of it, or put into it.")


def members(file: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """In their order, each to be read before the next one is asked for."""
    with tarfile.open(file, "r:") as tar:
        for info in tar:
            if not info.isreg() or not (stream := tar.extractfile(info)):
                raise BackupUnusable(f"{info.name[:100]!r} has no business in it.")
            yield info.name, info.size, stream
            tar.members.clear()  # type: ignore[attr-defined]  # untold in typeshed; a million would be remembered


def measured(stream: IO[bytes]) -> tuple[str, bytes]:
    """The hash of all of it, and how it begins."""
    digest, start = hashlib.sha256(), b""
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
        start = start or chunk
    return digest.hexdigest(), start


def a_head(file: Path, name: str, data: bytes) -> Head:
    require(name == HEAD, f"{file} is not of our making.")
    head = msgspec.json.decode(data, type=Head)
    require(head.format == FORMAT, f"It is of format {head.format}; this Glisk reads {FORMAT}.")
    return head


def require(is_so: bool, problem: str) -> None:
    if not is_so:
        raise BackupUnusable(problem)
