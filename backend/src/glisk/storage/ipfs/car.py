"""CARs, version 1: a file's blocks in one stream, each behind its CID."""

from __future__ import annotations

from collections.abc import Iterator

from glisk.errors import BadCid
from glisk.storage.ipfs import cid, node, varint
from glisk.storage.ipfs.cid import DAG_PB, Cid
from glisk.storage.ipfs.port import Block, Dag

# The header is CBOR: {"roots": [the CID], "version": 1}.
BEFORE, AFTER = b"\xa2\x65roots\x81\xd8\x2a\x58\x25\x00", b"\x67version\x01"


def written(dag: Dag) -> bytes:
    return header(cid.parse(dag.root)) + b"".join(section(cid.parse(block.cid), block.data) for block in dag.blocks)


def read(data: bytes) -> tuple[list[str], list[Block]]:
    """Its roots and its blocks. They are all there, down to the leaves, and each is what its CID says: else BadCid."""
    first, *others = sections(data)
    root, blocks = root_in(first), dict(block_in(each) for each in others)
    for name in (root, *links_in(blocks)):
        if name not in blocks:
            raise BadCid(f"The CAR lacks the block {name}.")
    return [str(root)], [Block(str(name), block) for name, block in blocks.items()]


def header(root: Cid) -> bytes:
    return framed(BEFORE + bytes(root) + AFTER)


def section(name: Cid, data: bytes) -> bytes:
    return framed(bytes(name) + data)


def framed(data: bytes) -> bytes:
    return varint.written(len(data)) + data


def sections(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data) or not at:
        length, at = varint.read(data, at)
        if not length or at + length > len(data):
            raise BadCid("The CAR ends too early.")
        yield data[at : at + length]
        at += length


def root_in(head: bytes) -> Cid:
    root = cid.unpacked(head[len(BEFORE) : -len(AFTER)])
    if framed(head) != header(root):
        raise BadCid("The CAR's header is none of version 1 with one root.")
    return root


def block_in(section: bytes) -> tuple[Cid, bytes]:
    name, data = cid.unpacked(section[: cid.LENGTH]), section[cid.LENGTH :]
    if not name.names(data):
        raise BadCid(f"The CAR's block {name} is not what it says.")
    return name, data


def links_in(blocks: dict[Cid, bytes]) -> Iterator[Cid]:
    for name, data in blocks.items():
        if name.codec == DAG_PB:
            yield from (link.cid for link in node.read(data))
