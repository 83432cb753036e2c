"""CIDs: the name of a block is the hash of what is in it."""

from __future__ import annotations

import hashlib
import re
from base64 import b32decode, b32encode
from dataclasses import dataclass

from glisk.errors import BadCid

RAW, DAG_PB = 0x55, 0x70  # mere bytes; a node that links to others
SHA2_256 = b"\x12\x20"  # the hash and its length
LENGTH = 36  # in binary
SHAPE = re.compile(r"b[a-z2-7]{58}")
OLD = re.compile(r"Qm[1-9A-HJ-NP-Za-km-z]{44}")


@dataclass(frozen=True, slots=True)
class Cid:
    """Version 1, of SHA-256: the only one that we write and read."""

    codec: int
    digest: bytes

    def __bytes__(self) -> bytes:
        return bytes([1, self.codec]) + SHA2_256 + self.digest

    def __str__(self) -> str:
        return "b" + b32encode(bytes(self)).decode().lower().rstrip("=")

    def names(self, data: bytes) -> bool:
        return hashlib.sha256(data).digest() == self.digest


def of(codec: int, data: bytes) -> Cid:
    return Cid(codec, hashlib.sha256(data).digest())


def parse(text: str) -> Cid:
    if not SHAPE.fullmatch(text):
        raise BadCid(f"{text[:100]!r} is {'of version 0' if OLD.fullmatch(text) else 'something else'}.")
    cid = unpacked(b32decode(text[1:].upper() + "=" * 6))
    if str(cid) != text:
        raise BadCid(f"{text!r} has bits behind its end.")
    return cid


def unpacked(data: bytes) -> Cid:
    """From its binary form, as it stands in links and CARs."""
    codec, digest = data[1:2], data[4:]
    if len(data) != LENGTH or data[:1] != b"\x01" or data[2:4] != SHA2_256 or codec[0] not in (RAW, DAG_PB):
        raise BadCid(f"Its binary form starts with {data[:4].hex()} and has {len(data)} bytes.")
    return Cid(codec[0], digest)
