"""What a listener reads from a chain: blocks, and in them the logs by which tokens came into being."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import Struct

TRANSFER, BATCH_MINTED, CONSECUTIVE = "transfer", "batch_minted", "consecutive"


class Contract(Struct, frozen=True):
    """Which one: its chain and its address, in lower case."""

    chain_id: int
    address: str

    def __str__(self) -> str:
        return f"{self.chain_id}:{self.address}"


class Header(Struct, frozen=True):
    number: int
    hash: bytes
    parent_hash: bytes
    timestamp: int  # seconds since 1970


class Mint(Struct, frozen=True, gc=False):
    """One log that says that the tokens first_token_id .. first_token_id + quantity - 1 came into being."""

    kind: str
    block_number: int
    block_hash: bytes
    tx_hash: bytes
    log_index: int
    first_token_id: int
    quantity: int
    minter: str
    author: str


class Columns(NamedTuple):
    """Of many mints, as statements take them. Token ids as text: they may have 78 digits."""

    number: list[int]
    hash: list[bytes]
    log: list[int]
    tx: list[bytes]
    first: list[str]
    quantity: list[int]
    minter: list[str]
    author: list[str]


class Undecodable(Struct, frozen=True):
    """A log of the contract that says it is a mint, and cannot be read as one."""

    block_number: int
    block_hash: bytes
    tx_hash: bytes
    log_index: int
    problem: str
    raw: msgspec.Raw  # the log as it came, JSON


class Logs(Struct, frozen=True):
    """What one answer about logs comes to. `seen` counts every log in it, those of no interest too."""

    mints: list[Mint]
    undecodable: list[Undecodable]
    seen: int
