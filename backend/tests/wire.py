"""Logs as nodes give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from glisk.chain import decode

Wire: TypeAlias = dict[str, Any]

ADDRESS = "0x" + "c0" * 20
BLOCK, TX = b"\x11" * 32, b"\x22" * 32


def transfer(sender: str, to: str, token: int) -> Wire:
    return event(decode.TRANSFER, [sender, to, token], [])


def consecutive(first: int, last: int, sender: str, to: str) -> Wire:
    return event(decode.CONSECUTIVE, [first, sender, to], [last])


def batch(minter: str, author: str, first: int, quantity: int, paid: int = 10**17) -> Wire:
    return event(decode.BATCH_MINTED, [minter, author, first], [quantity, paid])


def event(topic: str, topics: Sequence[int | str], data: Sequence[int | str]) -> Wire:
    return {
        "address": ADDRESS,
        "topics": [topic, *(f"0x{word(found)}" for found in topics)],
        "data": "0x" + "".join(word(found) for found in data),
        "blockNumber": "0x1",
        "blockHash": f"0x{BLOCK.hex()}",
        "transactionHash": f"0x{TX.hex()}",
        "transactionIndex": "0x0",
        "logIndex": "0x0",
        "removed": False,
    }


def word(value: int | str) -> str:
    return f"{value:064x}" if isinstance(value, int) else value.removeprefix("0x").rjust(64, "0")
