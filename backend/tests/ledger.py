"""A chain that is only told of: blocks and logs that nobody ever mined, a million of them in a few seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from glisk.chain import decode
from tests import wire

Numbers: TypeAlias = NDArray[np.uint64]
Digits: TypeAlias = NDArray[np.uint8]  # a row of characters for each number

FIRST = 0x1000000  # from here on, and for long, a block's number has seven digits: every log is as long as the next
FIRST_LOG = 16  # as if other contracts had written the first ones of every block; for the same reason
SECONDS = 2
HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
DEPLOYED_AT = 0x65000000
PAGE = 10_000  # logs that are made at once


class Cut(NamedTuple):
    logs: int
    json: memoryview  # with commas between them


@dataclass(frozen=True)
class Ledger:
    """In every block so many mints of so many tokens each, ids from 1 on without a gap. `tells` of them by `batches`, by
    `transfers`, or by both, as GliskCollection does."""

    blocks: int
    mints: int = 4
    quantity: int = 1
    tells: str = "batches"
    authors: int = 1000
    confirmed: int = 32  # so far behind the head is `safe`; `finalized` is twice as far

    @property
    def head(self) -> int:
        return FIRST + self.blocks - 1

    @property
    def tokens(self) -> int:
        return self.blocks * self.mints * self.quantity

    def minted_by(self, block: int) -> int:
        return max(0, min(block, self.head) - FIRST + 1) * self.mints * self.quantity

    def number(self, tag: str) -> int:
        behind = {"latest": 0, "pending": 0, "safe": self.confirmed, "finalized": 2 * self.confirmed}
        if tag == "earliest":
            return 0
        return max(0, self.head - behind[tag]) if tag in behind else int(tag, 16)

    def header(self, number: int) -> dict[str, Any] | None:
        if not 0 <= number <= self.head:
            return None
        return {
            "number": hex(number),
            "hash": f"0x{block_hash(number).hex()}",
            "parentHash": f"0x{block_hash(number - 1).hex()}",
            "timestamp": hex(DEPLOYED_AT + SECONDS * (number - FIRST)),
            "logsBloom": "0x" + "f" * 512,
            "transactions": [],
        }

    def height(self, hash: str) -> int | None:
        """Of the block with this hash, if there is one."""
        number = int(hash[-16:], 16)
        return number if number <= self.head and hash == f"0x{block_hash(number).hex()}" else None

    def logs(self, first: int, last: int, topics: list[Any]) -> list[Cut]:
        start, end = ((max(block, FIRST) - FIRST) * self.mints for block in (first, last + 1))
        cuts = []
        if start < end and wants(topics, decode.BATCH_MINTED) and self.tells != "transfers":
            cuts.append(cut(self.batches, len(BATCH), start, end))
        if start < end and wants(topics, decode.TRANSFER) and self.tells != "batches":
            cuts.append(cut(self.transfers, len(TRANSFER), start * self.quantity, end * self.quantity))
        return cuts

    @cached_property
    def batches(self) -> memoryview:
        """All of them. Made once: to answer is to cut a piece out."""
        return in_pages(self.batch_page, self.blocks * self.mints, len(BATCH))

    @cached_property
    def transfers(self) -> memoryview:
        return in_pages(self.transfer_page, self.tokens, len(TRANSFER))

    def batch_page(self, mints: Numbers) -> Digits:
        page = self.page(BATCH, mints, mints % np.uint64(self.mints))
        put(page, BATCH, AUTHOR, account(mints % np.uint64(self.authors)))
        put(page, BATCH, MINTER, account(mints))
        put(page, BATCH, TOKEN, digits(mints * np.uint64(self.quantity) + np.uint64(1), 16))
        put(page, BATCH, QUANTITY, digits(np.full_like(mints, self.quantity), 16))
        return page

    def transfer_page(self, tokens: Numbers) -> Digits:
        mints = tokens // np.uint64(self.quantity)
        page = self.page(TRANSFER, mints, np.uint64(self.mints) + tokens % np.uint64(self.mints * self.quantity))
        put(page, TRANSFER, MINTER, account(mints))
        put(page, TRANSFER, TOKEN, digits(tokens + np.uint64(1), 16))
        return page

    def page(self, template: bytes, mints: Numbers, log: Numbers) -> Digits:
        page = np.tile(np.frombuffer(template, np.uint8), (len(mints), 1))
        numbers = mints // np.uint64(self.mints) + np.uint64(FIRST)
        put(page, template, BLOCK, digits(numbers, 7))
        put(page, template, BLOCK_HASH, hashes(numbers))
        put(page, template, TX_HASH, hashes(mints + np.uint64(1 << 40)))
        put(page, template, INDEX, digits(log + np.uint64(FIRST_LOG), 2))
        return page


def in_pages(page: Callable[[Numbers], Digits], count: int, width: int) -> memoryview:
    found = np.empty((count, width), np.uint8)
    for start in range(0, count, PAGE):
        end = min(start + PAGE, count)
        found[start:end] = page(np.arange(start, end, dtype=np.uint64))
    return found.reshape(-1).data


def cut(made: memoryview, width: int, start: int, end: int) -> Cut:
    return Cut(end - start, made[start * width : end * width - 1])


def wants(topics: list[Any], topic: str) -> bool:
    first = topics[0] if topics else None
    return first is None or topic in (first if isinstance(first, list) else [first])


def block_hash(number: int) -> bytes:
    return bytes.fromhex(hashes(np.array([number & 2**64 - 1], np.uint64)).tobytes().decode())


def hashes(numbers: Numbers) -> Digits:
    """They look like hashes, and end with the number, so that a block can be found by its hash."""
    return np.hstack([*(digits(mixed(numbers + np.uint64(k << 56)), 16) for k in (1, 2, 3)), digits(numbers, 16)])


def account(numbers: Numbers) -> Digits:
    return np.hstack([digits(mixed(numbers), 16), digits(mixed(~numbers), 16), digits(numbers, 8)])


def mixed(numbers: Numbers) -> Numbers:
    """Every bit depends on every bit (splitmix64)."""
    found = numbers * np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))


def digits(numbers: Numbers, wanted: int) -> Digits:
    octets = numbers.astype(">u8").view(np.uint8).reshape(-1, 8)
    return HEX[np.stack([octets >> 4, octets & 15], axis=2).reshape(-1, 16)[:, 16 - wanted :]]


def put(page: Digits, template: bytes, mark: str, found: Digits) -> None:
    at = template.index(mark.encode())
    page[:, at : at + len(mark)] = found


# Where in a log each thing stands.
BLOCK, BLOCK_HASH, TX_HASH, INDEX = "B" * 7, "H" * 64, "X" * 64, "II"
MINTER, AUTHOR, TOKEN, QUANTITY = "M" * 40, "A" * 40, "T" * 16, "Q" * 16


def template(event: wire.Wire) -> bytes:
    marked = event | {
        "blockNumber": f"0x{BLOCK}",
        "blockHash": f"0x{BLOCK_HASH}",
        "transactionHash": f"0x{TX_HASH}",
        "logIndex": f"0x{INDEX}",
        "blockTimestamp": hex(DEPLOYED_AT),
    }
    return msgspec.json.encode(marked) + b","


BATCH = template(wire.event(decode.BATCH_MINTED, [MINTER, AUTHOR, TOKEN], [QUANTITY, 10**17]))
TRANSFER = template(wire.event(decode.TRANSFER, [decode.NOBODY, MINTER, TOKEN], []))
