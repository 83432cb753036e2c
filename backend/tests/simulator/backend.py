"""One node: how much of the tree it has, which branch it is on, and what it says when it is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from tests.simulator import log
from tests.simulator.tree import ADDRESS, CHAIN, DEPLOYED, Block, Kind, Tree
from tests.simulator.weather import CALM, OF_LOGS, Fault, Weather

NEXT_TOKEN_ID, SUPPORTS_INTERFACE = "0x75794a3c", "0x01ffc9a7"
INTERFACES = {"0x01ffc9a7", "0x80ac58cd", "0x5b5e139f"}  # ERC-165, ERC-721, its metadata
SAFE, FINALIZED = 12, 20  # blocks behind the head
TAGS = {"latest": 0, "pending": 0, "safe": SAFE, "finalized": FINALIZED}
BEYOND = (
    (-32602, "block range extends beyond current head block"),
    (-32000, "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found."),
)


class Refusal(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Backend:
    """`is_strict`: asked for blocks it does not have, it says so. An older one answers with what it has: nothing."""

    def __init__(self, number: int, tree: Tree, is_strict: bool, range_cap: int | None, tally: Counter[str]) -> None:
        self.number, self.tree, self.is_strict, self.range_cap, self.tally = number, tree, is_strict, range_cap, tally
        self.lag, self.stays = 0, 0  # blocks behind; steps for which it keeps to its branch
        self.tip = tree.head
        self.known = {block.hash: block for block in self.tip.back()}
        self.index_from: dict[bytes, int] = {}  # the step from which it has a block's logs, if not at once

    def follow(self, step: int, weather: Weather) -> None:
        """Look at the chain as it is now, as far as this node gets."""
        if self.stays:
            self.stays -= 1
            return
        self.tip = self.tree.canonical[-1 - self.lag]
        for block in self.tip.back():
            if block.hash in self.known:
                break
            self.known[block.hash] = block
            self.index_late(block, step, weather)

    def index_late(self, block: Block, step: int, weather: Weather) -> None:
        luck = Random(f"index {self.tree.seed} {self.number} {block.hash.hex()}")
        if weather.strikes(Fault.UNINDEXED, luck):
            # Now and then it takes longer than any number of confirmations.
            self.index_from[block.hash] = step + (luck.randint(1, 6) if luck.random() < 0.9 else luck.randint(7, 30))

    def answer(self, method: str, params: Any, step: int, weather: Weather, luck: Random) -> Any:
        """Raises Refusal."""
        if weather.strikes(Fault.REFUSED, luck):
            self.tally[Fault.REFUSED.name] += 1
            raise Refusal(
                *luck.choice(((-32000, "header not found"), (-32603, "Internal error"), (-32005, "try again")))
            )
        match method:
            case "eth_chainId":
                return hex(CHAIN)
            case "net_version":
                return str(CHAIN)
            case "web3_clientVersion":
                return f"Simulator/{self.number}"
            case "eth_blockNumber":
                return hex(self.tip.number)
            case "eth_getBlockByNumber":
                return header(self.at(params[0]))
            case "eth_getBlockByHash":
                return header(self.known.get(unhex(params[0])))
            case "eth_getCode":
                return "0x6001" if self.state(params[1]).number >= DEPLOYED and params[0].lower() == ADDRESS else "0x"
            case "eth_call":
                return self.call(params[0], self.state(params[1]))
            case "eth_getLogs":
                return self.logs(params[0], step, weather, luck)
        raise Refusal(-32601, f"the method {method} does not exist/is not available")

    def at(self, place: Any) -> Block | None:
        """By number, tag or hash (EIP-1898); None: it does not have it."""
        if isinstance(place, dict):
            return self.known.get(unhex(place["blockHash"])) if "blockHash" in place else self.at(place["blockNumber"])
        return self.tip.at(self.height(place))

    def height(self, place: str) -> int:
        if place in TAGS:
            return max(0, self.tip.number - TAGS[place])
        return 0 if place == "earliest" else int(place, 16)

    def state(self, place: Any) -> Block:
        if (block := self.at(place)) is None:
            raise Refusal(-32000, "header not found")
        return block

    def call(self, message: dict[str, str], block: Block) -> str:
        data = message.get("data") or message["input"]
        if message["to"].lower() != ADDRESS or block.number < DEPLOYED:
            return "0x"
        if data == NEXT_TOKEN_ID and self.tree.kind is Kind.GLISK:
            return log.word(block.next_token_id)
        if data.startswith(SUPPORTS_INTERFACE):
            return log.word(int("0x" + data[10:18] in INTERFACES))
        raise Refusal(3, "execution reverted")

    def logs(self, terms: dict[str, Any], step: int, weather: Weather, luck: Random) -> list[dict[str, Any]]:
        fault = weather.one_of(OF_LOGS, luck)
        wanted = (lambda _: True) if fault is Fault.UNFILTERED else filter_of(terms)
        blocks = self.blocks(terms)
        indexed = [block for block in blocks if self.has_index(block, step, weather)]
        self.tally[Fault.UNINDEXED.name] += len(blocks) - len(indexed)
        found = [
            log.as_json(entry, index, block.number, block.hash)
            for block in indexed
            for index, entry in enumerate(block.logs)
            if wanted(entry)
        ]
        if fault and found:
            self.tally[fault.name] += 1
        return self.spoilt(found, fault, luck)

    def blocks(self, terms: dict[str, Any]) -> list[Block]:
        if "blockHash" in terms:
            if (block := self.known.get(unhex(terms["blockHash"]))) is None:
                raise Refusal(-32000, "unknown block")
            return [block]
        first, last = self.height(terms.get("fromBlock", "latest")), self.height(terms.get("toBlock", "latest"))
        if self.range_cap and last - first >= self.range_cap:
            raise Refusal(-32600, f"eth_getLogs is limited to a {self.range_cap} block range")
        if self.is_strict and last > self.tip.number:
            raise Refusal(*BEYOND[self.number % len(BEYOND)])
        return [block for block in self.tip.back() if first <= block.number <= last][::-1]

    def has_index(self, block: Block, step: int, weather: Weather) -> bool:
        if weather is CALM:
            return True
        # Nothing in a plain collection tells that a log is missing: if none were there at the second look, nobody could know.
        is_deep = self.tree.kind is Kind.PLAIN and self.tip.number - block.number >= 7
        return is_deep or self.index_from.get(block.hash, 0) <= step

    def spoilt(self, found: list[dict[str, Any]], fault: Fault | None, luck: Random) -> list[dict[str, Any]]:
        match fault:
            case Fault.DROPPED:
                return [entry for entry in found if luck.random() < 0.5]
            case Fault.DOUBLED:
                return found + [entry for entry in found if luck.random() < 0.5]
            case Fault.SHUFFLED:
                return luck.sample(found, len(found))
            case Fault.REMOVED:
                return found + list(self.removed(luck))
        return found

    def removed(self, luck: Random) -> Iterable[dict[str, Any]]:
        """Of blocks that this node has seen leave the chain."""
        ours = {block.hash for block in self.tip.back()}
        left = [block for block in self.known.values() if block.hash not in ours]
        for block in luck.sample(left, min(2, len(left))):
            for index, entry in enumerate(block.logs):
                if entry.is_mint(ADDRESS):
                    yield log.as_json(entry, index, block.number, block.hash) | {"removed": True}


def filter_of(terms: dict[str, Any]) -> Callable[[log.Log], bool]:
    addresses = terms.get("address")
    among = (
        None if addresses is None else {a.lower() for a in ([addresses] if isinstance(addresses, str) else addresses)}
    )
    topics = [None if t is None else {t} if isinstance(t, str) else set(t) for t in terms.get("topics", [])]

    def is_wanted(entry: log.Log) -> bool:
        if (among is not None and entry.address not in among) or len(entry.topics) < len(topics):
            return False
        return all(wanted is None or topic in wanted for wanted, topic in zip(topics, entry.topics, strict=False))

    return is_wanted


def header(block: Block | None) -> dict[str, Any] | None:
    """The fields that are read; a real one has twenty more."""
    if block is None:
        return None
    return {
        "number": hex(block.number),
        "hash": f"0x{block.hash.hex()}",
        "parentHash": f"0x{(block.parent.hash if block.parent else bytes(32)).hex()}",
        "timestamp": hex(block.timestamp),
        "transactions": [f"0x{order.tx.hex()}" for order in block.orders],
    }


def unhex(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))
