"""The port to whoever pins: a file in blocks, under a CID that is known before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Block:
    cid: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Dag:
    """A file as IPFS knows it: the CID of the whole, and every block of it, leaves first, the root last."""

    root: str
    blocks: Sequence[Block]
    size: int  # of the file


class Pinner(Protocol):
    """Every method raises an error under PinError. What was put twice is there once."""

    name: str

    async def put(self, dag: Dag, label: str) -> None:
        """When this returns, it is kept under its own CID. `label` is for people who look at the service's list."""

    async def has(self, cid: str) -> bool:
        """Whether all of it is there."""

    async def close(self) -> None: ...
