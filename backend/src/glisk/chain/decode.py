"""Reads mints from logs, by slicing: a hundred times as fast as decoding by the contract's description."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct

from glisk.chain import mint
from glisk.chain.mint import Logs, Mint, Undecodable

BATCH_MINTED = "0x20c0d4a5bab7118059cf1d2fd0403c4f29a05e446d435b347f90b80778374c54"
CONSECUTIVE = "0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d"
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
FROM_NOBODY = "0x" + "0" * 64
BATCHES = [BATCH_MINTED, CONSECUTIVE]
TOPICS = [BATCH_MINTED, CONSECUTIVE, TRANSFER]

IDS = 2**256
MOST = 20_000  # tokens of one log: each becomes a row, and the number is whatever the contract's author wrote
NOBODY = "0x" + "0" * 40
PADDING = bytes(12)  # what a word has before an address
TRANSFERRED = struct.Struct("12s20s 12s20s 32s")
TRANSFERRED_ON = struct.Struct("32s 12s20s 12s20s 32s")
BATCH = struct.Struct("12s20s 12s20s 32s 32s 32s")

Place: TypeAlias = tuple[int, bytes, bytes, int]  # block number, block hash, transaction, index in the block
Reader: TypeAlias = "Callable[[Log], Mint | None]"  # ValueError says why it cannot be read


class Log(Struct, gc=False):
    address: str
    topics: list[str]
    data: str
    blockNumber: str
    blockHash: str
    transactionHash: str
    logIndex: str
    removed: bool | None = None


class Spoilt(Struct):
    """A log of which something is missing or of another type. Where it stands it must say."""

    blockNumber: str
    blockHash: str
    transactionHash: str
    logIndex: str
    address: Any = None
    topics: Any = None
    removed: Any = None


class Pending(Struct):
    blockHash: None


def logs(raw: Raw | bytes, address: str) -> Logs:
    """What the contract minted, and those of its logs that say they are mints and cannot be read. Of no interest: logs of
    others, since nodes ignore what was asked; other events; what was removed; what is in no block yet.
    ValueError: not a list of logs, or it does not say where they stand. Then whoever gave it is at fault."""
    try:
        return together(raw, address.lower())
    except RecursionError as error:
        raise ValueError("not a list of logs: nested too deep") from error


def together(raw: Raw | bytes, address: str) -> Logs:
    try:
        found = LOGS.decode(raw)
    except msgspec.ValidationError:  # of one log, and it must not take the others with it
        return one_by_one(RAWS.decode(raw), address)
    return sorted_out(found, address, lambda number: RAWS.decode(raw)[number])


def one_by_one(raws: list[Raw], address: str) -> Logs:
    parts = [alone(raw, address) for raw in raws]
    mints = [mint for part in parts for mint in part.mints]
    return Logs(mints, [odd for part in parts for odd in part.undecodable], len(raws))


def alone(raw: Raw, address: str) -> Logs:
    try:
        return sorted_out([LOG.decode(raw)], address, lambda _: raw)
    except msgspec.ValidationError as error:
        if is_pending(raw) or not may_be_a_mint(log := SPOILT.decode(raw), address):
            return Logs([], [], 1)
        return Logs([], [Undecodable(*place(log), str(error), storable(raw))], 1)


def is_pending(raw: Raw) -> bool:
    try:
        PENDING.decode(raw)
    except msgspec.ValidationError:
        return False
    return True


def sorted_out(found: Sequence[Log], address: str, raw_of: Callable[[int], Raw]) -> Logs:
    mints: list[Mint] = []
    undecodable: list[Undecodable] = []
    for number, log in enumerate(found):
        if (reader := reader_of(log, address)) is None:
            continue
        try:
            found_mint = reader(log)
        except ValueError as problem:
            undecodable.append(Undecodable(*place(log), str(problem), storable(raw_of(number))))
        else:
            if found_mint is not None:
                mints.append(found_mint)
    return Logs(mints, undecodable, len(found))


def reader_of(log: Log, address: str) -> Reader | None:
    if log.removed or not log.topics or log.address.lower() != address:
        return None
    return READERS.get(log.topics[0].lower())


def may_be_a_mint(log: Spoilt, address: str) -> bool:
    """In doubt it may: whoever looks at it later sees what it is, and nobody looks at what was left out."""
    if log.removed is True or (isinstance(log.address, str) and log.address.lower() != address):
        return False
    first = log.topics[0] if isinstance(log.topics, list) and log.topics else None
    return first.lower() in READERS if isinstance(first, str) else True


def place(log: Log | Spoilt) -> Place:
    height, hash = block(log.blockNumber, log.blockHash)
    return height, hash, hash_in(log.transactionHash), number(log.logIndex, 31)


def transfer(log: Log) -> Mint | None:
    """A mint when it comes from nobody. What goes from nobody to nobody is not there afterwards."""
    if len(log.topics) == 3:
        raise ValueError("a Transfer with 3 topics: that is one of ERC-20, ERC-721 has 4")
    padding, sender, padding_too, minter, token = sliced(TRANSFERRED, log)
    to = account(padding_too, minter)
    return several(mint.TRANSFER, log, token, 1, to, to) if account(padding, sender) == NOBODY != to else None


def consecutive(log: Log) -> Mint | None:
    """ERC-2309. The last token is among them."""
    first, padding, sender, padding_too, minter, last = sliced(TRANSFERRED_ON, log)
    to, quantity = account(padding_too, minter), integer(last) - integer(first) + 1
    return several(mint.CONSECUTIVE, log, first, quantity, to, to) if account(padding, sender) == NOBODY != to else None


def batch_minted(log: Log) -> Mint:
    padding, minter, padding_too, author, first, quantity, _paid = sliced(BATCH, log)
    to, by = account(padding, minter), account(padding_too, author)
    return several(mint.BATCH_MINTED, log, first, integer(quantity), to, by)


def several(kind: str, log: Log, first_word: bytes, quantity: int, minter: str, author: str) -> Mint:
    first = integer(first_word)
    if quantity < 1:
        raise ValueError("mints no tokens")
    if quantity > MOST:
        raise ValueError(f"mints {quantity} tokens at once: more than {MOST}")
    if first + quantity > IDS:
        raise ValueError(f"mints {quantity} tokens from {first} on: beyond the last id there can be")
    number, hash, tx, index = place(log)
    return Mint(kind, number, hash, tx, index, first, quantity, minter, author)


def sliced(shape: struct.Struct, log: Log) -> tuple[bytes, ...]:
    """The three topics after the first, and the data. Every length counts: fromhex() passes over spaces."""
    topics, data = log.topics, log.data
    if len(topics) != 4:
        raise ValueError(f"has {len(topics)} topics, not 4")
    _, a, b, c = topics
    if not (len(a) == len(b) == len(c) == 66 and a[:2] == b[:2] == c[:2] == data[:2] == "0x"):
        raise ValueError("has a topic that is not 32 bytes, or data without 0x")
    if len(data) != 2 * shape.size - 190:
        raise ValueError(f"has {len(data) / 2 - 1:g} bytes of data, not {shape.size - 96}")
    words = bytes.fromhex(f"{a[2:]}{b[2:]}{c[2:]}{data[2:]}")
    if len(words) != shape.size:
        raise ValueError("has topics or data that are not hexadecimal")
    return shape.unpack(words)


def account(padding: bytes, found: bytes) -> str:
    if padding != PADDING:
        raise ValueError(f"0x{padding.hex()}{found.hex()} is longer than an address")
    return "0x" + found.hex()


def integer(found: bytes) -> int:
    return int.from_bytes(found, "big")


@lru_cache(256)  # a block's logs come one after the other
def block(number_text: str, hash_text: str) -> tuple[int, bytes]:
    return number(number_text, 63), hash_in(hash_text)


def hash_in(text: str) -> bytes:
    if len(text) == 66 and text[:2] == "0x" and len(found := bytes.fromhex(text[2:])) == 32:
        return found
    raise ValueError(f"{text[:80]!r} is not a hash")


@lru_cache(1024)
def number(text: str, bits: int) -> int:
    """int() alone would take signs, spaces, underscores and the digits of every script."""
    if text.startswith("0x") and text.isalnum() and text.isascii() and (found := int(text, 16)) < 1 << bits:
        return found
    raise ValueError(f"{text[:80]!r} is not the number of a block or a log")


def storable(raw: Raw) -> Raw:
    """jsonb takes no NUL, no number beyond its bounds and no broken text: a log with such a thing is kept as a text."""
    try:
        msgspec.json.decode(raw)
    except ValueError:
        is_tame = False
    else:
        is_tame = b"\\u0000" not in bytes(raw)
    return raw.copy() if is_tame else Raw(msgspec.json.encode(bytes(raw).decode("ascii", "backslashreplace")))


LOGS = msgspec.json.Decoder(list[Log])
RAWS = msgspec.json.Decoder(list[Raw])
LOG = msgspec.json.Decoder(Log)
SPOILT = msgspec.json.Decoder(Spoilt)
PENDING = msgspec.json.Decoder(Pending)
READERS: dict[str, Reader] = {BATCH_MINTED: batch_minted, CONSECUTIVE: consecutive, TRANSFER: transfer}
