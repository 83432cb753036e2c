"""The blocks between a file's root and its leaves: dag-pb nodes that list the parts of a UnixFS file in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from glisk.errors import BadCid
from glisk.storage.ipfs import cid, varint
from glisk.storage.ipfs.cid import Cid

# The fields of a node, of a link in it, and of what it says about the file. The last three bits: 0 a number, 2 bytes.
NODE_ABOUT, NODE_LINK = 0x0A, 0x12
LINK_CID, LINK_NAME, LINK_WEIGHT = 0x0A, 0x12, 0x18
ABOUT_KIND, ABOUT_SIZE, ABOUT_PART = 0x08, 0x18, 0x20
A_FILE = 2


@dataclass(frozen=True, slots=True)
class Link:
    """`size`: how many of the file's bytes are below it; `weight`: how many bytes the blocks below it have."""

    cid: Cid
    size: int
    weight: int


def written(links: Sequence[Link]) -> bytes:
    about = [number(ABOUT_KIND, A_FILE), number(ABOUT_SIZE, sum(link.size for link in links))]
    about += [number(ABOUT_PART, link.size) for link in links]
    return b"".join(packed(NODE_LINK, pointing(link)) for link in links) + packed(NODE_ABOUT, b"".join(about))


def read(data: bytes) -> tuple[Link, ...]:
    """Only of a node that we would have written just so: any other may mean something that we do not know."""
    about = b"".join(body for field, _, body in fields(data) if field == NODE_ABOUT)
    sizes = [size for field, size, _ in fields(about) if field == ABOUT_PART]
    bodies = [body for field, _, body in fields(data) if field == NODE_LINK]
    links = tuple(link(body, size) for body, size in zip(bodies, sizes, strict=False))
    if written(links) != data:
        raise BadCid("A block of it belongs to no UnixFS file.")
    return links


def pointing(link: Link) -> bytes:
    return packed(LINK_CID, bytes(link.cid)) + packed(LINK_NAME, b"") + number(LINK_WEIGHT, link.weight)


def link(body: bytes, size: int) -> Link:
    found = {field: (value, inner) for field, value, inner in fields(body)}
    nothing = (0, b"")
    return Link(cid.unpacked(found.get(LINK_CID, nothing)[1]), size, found.get(LINK_WEIGHT, nothing)[0])


def number(field: int, value: int) -> bytes:
    return bytes([field]) + varint.written(value)


def packed(field: int, body: bytes) -> bytes:
    return bytes([field]) + varint.written(len(body)) + body


def fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Each field with its number, or with the length of its bytes and the bytes."""
    at = 0
    while at < len(data):
        field = data[at]
        value, at = varint.read(data, at + 1)
        body = data[at : at + value] if field & 7 == 2 else b""
        yield field, value, body
        at += len(body)
