"""What a collection's contract leaves in a block, as nodes write it down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eth_utils import keccak  # type: ignore[attr-defined] # it re-exports without saying so

NOBODY = "0x" + "0" * 40
PRICE = 10**15


def signature(text: str) -> str:
    return f"0x{keccak(text=text).hex()}"


BATCH_MINTED = signature("BatchMinted(address,address,uint256,uint256,uint256)")
TRANSFER = signature("Transfer(address,address,uint256)")


@dataclass(frozen=True, slots=True)
class Order:
    """A mint somebody sent. Which tokens it makes is known when it is mined, unless it names them."""

    tx: bytes
    minter: str
    author: str
    quantity: int
    token_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Log:
    tx: bytes
    address: str
    topics: tuple[str, ...]
    data: str

    def is_mint(self, address: str) -> bool:
        """Transfers from nobody are, and so is every batch, readable or not."""
        is_from_nobody = self.topics[0] == TRANSFER and self.topics[1] == word(NOBODY)
        return self.address == address and (self.topics[0] == BATCH_MINTED or is_from_nobody)

    @property
    def is_readable(self) -> bool:
        return self.topics[0] != BATCH_MINTED or len(self.data) == 2 + 128


def minted(order: Order, address: str, token_ids: tuple[int, ...], *, has_batches: bool) -> Iterator[Log]:
    """As the contract does it: one transfer for each token, then the batch."""
    for token_id in token_ids:
        yield transfer(order.tx, address, NOBODY, order.minter, token_id)
    if has_batches:
        topics = (BATCH_MINTED, word(order.minter), word(order.author), word(token_ids[0]))
        data = word(order.quantity) + word(order.quantity * PRICE)[2:]
        yield Log(order.tx, address, topics, data)


def transfer(tx: bytes, address: str, seller: str, buyer: str, token_id: int) -> Log:
    return Log(tx, address, (TRANSFER, word(seller), word(buyer), word(token_id)), "0x")


def unreadable(tx: bytes, address: str, minter: str) -> Log:
    """It says it is a batch, and ends too early."""
    return Log(tx, address, (BATCH_MINTED, word(minter), word(minter), word(1)), "0x" + "00" * 31)


def word(value: str | int) -> str:
    """A number or an address, as a topic or in data."""
    return f"0x{int(value, 16) if isinstance(value, str) else value:064x}"


def as_json(log: Log, index: int, number: int, block_hash: bytes) -> dict[str, Any]:
    return {
        "address": log.address,
        "topics": list(log.topics),
        "data": log.data,
        "blockNumber": hex(number),
        "blockHash": f"0x{block_hash.hex()}",
        "transactionHash": f"0x{log.tx.hex()}",
        "transactionIndex": "0x0",
        "logIndex": hex(index),
        "removed": False,
    }
