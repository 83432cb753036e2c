"""What comes to a pinning service: a form with a CAR in it, taken apart, and every block of it checked."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from glisk.errors import GliskError
from glisk.storage.ipfs import car

DAG_PB = 0x70


@dataclass(frozen=True, slots=True)
class Unpacked:
    root: str
    blocks: Mapping[str, bytes]

    @property
    def missing(self) -> str:
        """The first block that is not there although it is linked to; empty when all are there."""
        return next((cid for cid in reached(self.root, self.blocks) if cid not in self.blocks), "")


def form(content_type: str, body: bytes) -> dict[str, bytes]:
    """The fields of multipart/form-data by their names."""
    found = re.search(r'boundary="?([^";]+)', content_type)
    fields = {}
    for part in body.split(b"--" + found[1].encode())[1:-1] if found else ():
        head, _, data = part.partition(b"\r\n\r\n")
        if name := re.search(rb'[; ]name="([^"]*)"', head):
            fields[name[1].decode()] = data.removesuffix(b"\r\n")
    return fields


def unpacked(data: bytes) -> Unpacked:
    """ValueError for what is no CAR with one root, and for a block that is not what its CID says."""
    try:
        roots, blocks = car.read(data)
    except GliskError as error:
        raise ValueError(f"invalid CAR: {error}") from error
    if len(roots) != 1:
        raise ValueError(f"one root is wanted, not {len(roots)}")
    for block in blocks:
        if binary(block.cid)[-32:] != hashlib.sha256(block.data).digest():
            raise ValueError(f"mismatch in content integrity: {block.cid}")
    return Unpacked(roots[0], {block.cid: block.data for block in blocks})


def reached(cid: str, blocks: Mapping[str, bytes]) -> Iterator[str]:
    yield cid
    if cid in blocks and binary(cid)[1] == DAG_PB:
        for link in links(blocks[cid]):
            yield from reached(link, blocks)


def links(node: bytes) -> Iterator[str]:
    """Field 2 of a dag-pb node holds its links, and field 1 of each a CID."""
    for number, link in fields_of(node):
        if number == 2:
            yield from (as_text(value) for inner, value in fields_of(link) if inner == 1)


def fields_of(message: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        size, at = varint(message, at)
        if tag & 7 == 2:  # bytes; else it was a number, and `size` is that number
            yield tag >> 3, message[at : at + size]
            at += size


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def binary(cid: str) -> bytes:
    """Of a CID of version 1 in base32."""
    digits = cid[1:].upper()
    return base64.b32decode(digits + "=" * (-len(digits) % 8))


def as_text(cid: bytes) -> str:
    return "b" + base64.b32encode(cid).decode().lower().rstrip("=")
