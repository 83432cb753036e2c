"""Our own content-addressed store: every block is an object, and a file is found by the CID of its root."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

from glisk.errors import BadCid, NotHere, ObjectDamaged
from glisk.settings import Settings
from glisk.storage.ipfs import car, node
from glisk.storage.ipfs.cid import RAW, Cid, parse
from glisk.storage.ipfs.port import Dag
from glisk.storage.keys import named
from glisk.storage.objects import Objects, Part
from glisk.storage.s3 import Patience

ROOM = "ipfs"


class Blocks:
    """Every method raises BadCid for what is no CID, NotHere for what is not kept (`has` says so), and a StorageError.

    Nothing is handed out that is not what its CID says: such a block is an ObjectDamaged."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects

    @classmethod
    def of(cls, settings: Settings, patience: Patience | None = None) -> Blocks:
        return cls(Objects.of(settings, patience, ROOM))

    async def put(self, dag: Dag) -> None:
        """The root comes last, so whoever finds it finds all of the file."""
        for block in dag.blocks:
            cid = parse(block.cid)
            stored = await self.objects.put(block.data, mime(cid), extension(cid))
            if stored.key != key(cid):
                raise BadCid(f"{cid} was to be the CID of another block.")

    async def has(self, cid: str) -> bool:
        """Whether every block is there and whole. A damaged one counts as missing: putting the file again mends it."""
        try:
            async for _ in self.each(parse(cid), set()):
                pass
        except (NotHere, ObjectDamaged):
            return False
        return True

    async def size(self, cid: str) -> int:
        """Of the file."""
        root = parse(cid)
        if root.codec != RAW:
            return sum(link.size for link in node.read(await self.kept(root)))
        if (size := await self.objects.size(key(root))) is None:
            raise NotHere(f"It would be {root}.")
        return size

    async def open(self, cid: str, part: Part | None = None) -> AsyncIterator[bytes]:
        """The file leaf by leaf, and of it no leaf that the part does not need."""
        part = part or Part(0, sys.maxsize)
        async for piece in self.leaves(parse(cid), part.start, part.stop):
            yield piece

    async def block(self, cid: str) -> bytes:
        return await self.kept(parse(cid))

    async def car(self, cid: str) -> AsyncIterator[bytes]:
        """The root first, then what is below it, from left to right; no block twice."""
        head = car.header(parse(cid))  # comes with the root, so that whoever waits for the first bytes knows of it
        async for name, data in self.each(parse(cid), set()):
            yield head + car.section(name, data)
            head = b""

    async def kept(self, cid: Cid) -> bytes:
        if (data := await self.objects.get(key(cid))) is None:
            raise NotHere(f"It would be {cid}.")
        return data

    async def each(self, cid: Cid, seen: set[Cid]) -> AsyncIterator[tuple[Cid, bytes]]:
        if cid in seen:
            return
        seen.add(cid)
        data = await self.kept(cid)
        yield cid, data
        for link in () if cid.codec == RAW else node.read(data):
            async for below in self.each(link.cid, seen):
                yield below

    async def leaves(self, cid: Cid, start: int, stop: int) -> AsyncIterator[bytes]:
        data = await self.kept(cid)
        if cid.codec == RAW:
            yield data[start:stop]
            return
        at = 0
        for link in node.read(data):
            if start < at + link.size and at < stop:
                async for piece in self.leaves(link.cid, max(0, start - at), stop - at):
                    yield piece
            at += link.size


def key(cid: Cid) -> str:
    return str(named(cid.digest.hex(), extension(cid)))


def extension(cid: Cid) -> str:
    return "raw" if cid.codec == RAW else "pb"


def mime(cid: Cid) -> str:
    return "application/vnd.ipld.raw" if cid.codec == RAW else "application/vnd.ipld.dag-pb"
