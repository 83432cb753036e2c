"""What is asked of nodes about our transactions, and about the tokens they are for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from glisk.chain.calls import LATEST, at, hash_of
from glisk.chain.rpc.call import Call
from glisk.chain.rpc.classify import SEND
from glisk.chain.sending.fees import Market

REVEAL_TOKENS = "53de7804"
TOKEN_URI = "0xc87b56dd"  # noqa: S105 (a selector)
PROMPT_AUTHOR = "0x7c407c92"
KEEPER = "0xaced1661"
PLACEHOLDER = "0x7313cba9"
MOST_GAS = 13_900_000  # by estimate: with what is spared, no more than the 2^24 that EIP-7825 allows
USUAL_TIP = 10**6  # where the node does not say: next to nothing, as on most chains of today


class Receipt(msgspec.Struct, frozen=True):
    """Of a transaction that is in a block."""

    block_no: int
    block_hash: bytes
    is_good: bool
    gas_used: int
    paid: int  # wei, with what a rollup pays to the chain below it


class WireReceipt(msgspec.Struct):
    blockNumber: str
    blockHash: str
    status: str
    gasUsed: str
    effectiveGasPrice: str
    l1Fee: str | None = None


class WireBase(msgspec.Struct):
    baseFeePerGas: str


def market() -> tuple[Call[int], Call[int | None]]:
    """The base fee of the newest block, and the tip that the node suggests."""
    return (
        Call(
            "eth_getBlockByNumber",
            [LATEST, False],
            lambda raw: number(msgspec.json.decode(raw, type=WireBase).baseFeePerGas),
        ),
        Call("eth_maxPriorityFeePerGas", [], quantity, may_fail=True),
    )


def as_market(base: int, tip: int | None) -> Market:
    return Market(base, USUAL_TIP if tip is None else tip)


def nonce(address: str, when: int | str = LATEST) -> Call[int]:
    """How many transactions of this wallet there are: the next one's nonce."""
    return Call("eth_getTransactionCount", [address, at(when)], quantity)


def balance(address: str) -> Call[int]:
    return Call("eth_getBalance", [address, LATEST], quantity)


def gas(sender: str, to: str, data: bytes) -> Call[int]:
    """How much it would use. Refused if it would revert."""
    return Call("eth_estimateGas", [{"from": sender, "to": to, "data": f"0x{data.hex()}"}], quantity)


def receipt(tx_hash: bytes) -> Call[Receipt | None]:
    """None: no block of this node has it."""
    return Call("eth_getTransactionReceipt", [f"0x{tx_hash.hex()}"], as_receipt)


def send(raw: bytes) -> Call[str]:
    return Call(SEND, [f"0x{raw.hex()}"], lambda raw: msgspec.json.decode(raw, type=str))


def uri_of(contract: str, token_id: int) -> Call[str | None]:
    """None: there is no such token."""
    return Call("eth_call", [{"to": contract, "data": f"{TOKEN_URI}{token_id:064x}"}, LATEST], a_string, may_fail=True)


def author_of(contract: str, token_id: int, at_block: int | str) -> Call[str | None]:
    """The wallet whose prompt the token is drawn from. None: there was no such token at that block."""
    asked = {"to": contract, "data": f"{PROMPT_AUTHOR}{token_id:064x}"}
    return Call("eth_call", [asked, at(at_block)], an_address, may_fail=True)


def keeper_of(contract: str) -> Call[str | None]:
    return Call("eth_call", [{"to": contract, "data": KEEPER}, LATEST], an_address, may_fail=True)


def placeholder_of(contract: str) -> Call[str | None]:
    """What a token that is not revealed answers with."""
    return Call("eth_call", [{"to": contract, "data": PLACEHOLDER}, LATEST], a_string, may_fail=True)


def revealing(uris: Sequence[tuple[int, str]]) -> bytes:
    """The call that gives each token its URI: two arrays, as the contract wants them."""
    from eth_abi.abi import encode  # takes a third of a second to load

    arguments = [[token_id for token_id, _ in uris], [uri for _, uri in uris]]
    return bytes.fromhex(REVEAL_TOKENS) + encode(["uint256[]", "string[]"], arguments)


def as_receipt(raw: msgspec.Raw) -> Receipt | None:
    wire = msgspec.json.decode(raw, type=WireReceipt | None)
    if wire is None:
        return None
    paid = number(wire.gasUsed) * number(wire.effectiveGasPrice) + number(wire.l1Fee or "0x0")
    return Receipt(
        number(wire.blockNumber), hash_of(wire.blockHash), number(wire.status) == 1, number(wire.gasUsed), paid
    )


def quantity(raw: msgspec.Raw) -> int:
    return number(msgspec.json.decode(raw, type=str))


def number(text: str) -> int:
    found = int(text, 16)
    if found < 0:
        raise ValueError(f"{text} is less than nothing")
    return found


def an_address(raw: msgspec.Raw) -> str | None:
    """None for a contract that answers with nothing, or with something else."""
    text = msgspec.json.decode(raw, type=str)
    return f"0x{text[-40:].lower()}" if len(text) == 66 else None


def a_string(raw: msgspec.Raw) -> str | None:
    """The one string that a function returns: where it starts, how long it is, and its bytes. None for a contract that answers with
    nothing, or with something else: that is not the node's fault."""
    data = bytes.fromhex(msgspec.json.decode(raw, type=str)[2:])
    start = int.from_bytes(data[:32])
    length = int.from_bytes(data[start : start + 32])
    text = data[start + 32 : start + 32 + length]
    return text.decode("utf-8", "replace") if len(data) >= 64 and len(text) == length else None


def settled_block(head: int, safe: int | None, confirmations: int) -> int:
    """The newest block that is not replaced any more, as far as anybody can tell."""
    deep = head - confirmations
    return deep if safe is None else min(deep, safe)
