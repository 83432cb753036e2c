"""What the listener asks nodes for."""

from __future__ import annotations

from typing import Any

import msgspec

from glisk.chain import decode
from glisk.chain.mint import Contract, Header, Logs
from glisk.chain.rpc.call import Call

LATEST = "latest"
LAST_NUMBER = 2**63 - 1  # that a column holds
LAST_TIME = 253_402_300_799  # the end of the year 9999
NEXT_TOKEN_ID = "0x75794a3c"  # noqa: S105 (the selector of nextTokenId())
TOTAL_SUPPLY = "0x18160ddd"
SUPPORTS_INTERFACE = "0x01ffc9a7"


class WireHeader(msgspec.Struct):
    number: str
    hash: str
    parentHash: str
    timestamp: str


def block(number: int | str) -> Call[Header | None]:
    """None: the node does not have it."""
    return Call("eth_getBlockByNumber", [at(number), False], header)


def logs_of(contract: Contract, block_hash: bytes) -> Call[Logs]:
    """Of one block, whatever its number is by now. One question, so transfers that mint nothing come along."""
    terms = {"blockHash": f"0x{block_hash.hex()}", "address": contract.address, "topics": [decode.TOPICS]}
    return Call("eth_getLogs", [terms], lambda raw: decode.logs(raw, contract.address))


def logs_between(contract: Contract, first: int, last: int) -> tuple[Call[Logs], Call[Logs]]:
    """Of many blocks, so transfers between owners are left where they are: that takes a question of its own."""
    terms = {"fromBlock": hex(first), "toBlock": hex(last), "address": contract.address}

    def asking(topics: list[Any]) -> Call[Logs]:
        return Call("eth_getLogs", [{**terms, "topics": topics}], lambda raw: decode.logs(raw, contract.address))

    return asking([decode.BATCHES]), asking([decode.TRANSFER, decode.FROM_NOBODY])


def next_token_id(contract: Contract, at_block: int | str) -> Call[int | None]:
    return uint(contract, NEXT_TOKEN_ID, at_block)


def total_supply(contract: Contract, at_block: int | str) -> Call[int | None]:
    return uint(contract, TOTAL_SUPPLY, at_block)


def uint(contract: Contract, data: str, at_block: int | str) -> Call[int | None]:
    """None: the contract has no such function, or the node no longer has the state of that block."""
    return Call("eth_call", [{"to": contract.address, "data": data}, at(at_block)], word, may_fail=True)


def tagged(tag: str) -> Call[Header | None]:
    """`safe` or `finalized`; None: the node does not know the tag."""
    return Call("eth_getBlockByNumber", [tag, False], header, may_fail=True)


def supports(contract: Contract, interface: str) -> Call[int | None]:
    return uint(contract, f"{SUPPORTS_INTERFACE}{interface.removeprefix('0x'):0<64}", LATEST)


def code(contract: Contract, at_block: int | str) -> Call[bytes | None]:
    return Call(
        "eth_getCode",
        [contract.address, at(at_block)],
        lambda raw: bytes.fromhex(msgspec.json.decode(raw, type=str)[2:]),
        may_fail=True,
    )


def at(number: int | str) -> str:
    return number if isinstance(number, str) else hex(number)


def header(raw: msgspec.Raw) -> Header | None:
    wire = msgspec.json.decode(raw, type=WireHeader | None)
    if wire is None:
        return None
    number, timestamp = int(wire.number, 16), int(wire.timestamp, 16)
    if not (0 <= number <= LAST_NUMBER and 0 <= timestamp <= LAST_TIME):
        raise ValueError(f"block {number} of {timestamp} is out of all bounds")
    return Header(number, hash_of(wire.hash), hash_of(wire.parentHash), timestamp)


def hash_of(text: str) -> bytes:
    found = bytes.fromhex(text[2:])
    if len(found) != 32:
        raise ValueError(f"{text!r} is not a hash")
    return found


def word(raw: msgspec.Raw) -> int | None:
    """A contract without the function, or with a fallback, answers with nothing or with something else."""
    text = msgspec.json.decode(raw, type=str)
    return int(text, 16) if len(text) == 66 else None
