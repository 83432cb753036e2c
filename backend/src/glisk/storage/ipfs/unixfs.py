"""A file as IPFS knows it: cut into leaves, under a tree of nodes whose root names the whole.

The same bytes have another CID with other leaves or wider nodes, so both are pinned here (IPIP-499)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glisk.storage.ipfs import cid, node
from glisk.storage.ipfs.cid import DAG_PB, RAW, Cid
from glisk.storage.ipfs.node import Link
from glisk.storage.ipfs.port import Block, Dag


@dataclass(frozen=True, slots=True)
class Profile:
    """How many bytes a leaf has, and how many links a node."""

    chunk: int
    width: int


V1_2025 = Profile(chunk=1024 * 1024, width=1024)
KUBO = Profile(chunk=256 * 1024, width=174)  # what `ipfs add --cid-version=1` does by itself
PROFILES = (V1_2025, KUBO)


def dag(data: bytes, profile: Profile = V1_2025) -> Dag:
    blocks = dict[Cid, bytes]()  # two leaves of the same bytes are one block
    level = [leaf(data[at : at + profile.chunk], blocks) for at in range(0, len(data) or 1, profile.chunk)]
    while len(level) > 1:
        level = [branch(level[at : at + profile.width], blocks) for at in range(0, len(level), profile.width)]
    return Dag(str(level[0].cid), [Block(str(name), block) for name, block in blocks.items()], len(data))


def matches(name: str, data: bytes) -> bool:
    """Whether these bytes are the file of that CID, as far as we know how it may have been cut."""
    wanted = cid.parse(name)
    if wanted.codec == RAW:
        return wanted.names(data)
    return any(dag(data, profile).root == name for profile in PROFILES)


def leaf(data: bytes, blocks: dict[Cid, bytes]) -> Link:
    return Link(kept(RAW, data, blocks), size=len(data), weight=len(data))


def branch(links: Sequence[Link], blocks: dict[Cid, bytes]) -> Link:
    data = node.written(links)
    size, weight = sum(link.size for link in links), sum(link.weight for link in links)
    return Link(kept(DAG_PB, data, blocks), size, weight + len(data))


def kept(codec: int, data: bytes, blocks: dict[Cid, bytes]) -> Cid:
    name = cid.of(codec, data)
    blocks[name] = data
    return name
