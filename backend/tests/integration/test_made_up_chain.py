"""The made-up node: what is measured against it must be right, too."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest

from glisk.chain import calls
from glisk.chain.merging import merged
from glisk.chain.mint import Contract, Mint
from glisk.chain.rpc.call import Call
from tests import nodes, wire
from tests.ledger import FIRST, Ledger
from tests.nodes import CHAIN_ID, Node

CONTRACT = Contract(CHAIN_ID, wire.ADDRESS)


@pytest.mark.parametrize("tells", ["batches", "transfers", "both"])
def test_its_logs_tell_of_every_token_once(tells: str) -> None:
    node = Node(Ledger(blocks=7, mints=3, quantity=5, tells=tells))
    batches, transfers = ask(node, *calls.logs_between(CONTRACT, FIRST, node.ledger.head))
    assert not batches.undecodable
    assert not transfers.undecodable
    assert tokens(merged(batches.mints + transfers.mints)) == list(range(1, node.ledger.tokens + 1))


def test_a_block_is_found_by_its_hash_and_linked_to_its_parent() -> None:
    node = Node(Ledger(blocks=7, mints=3, tells="both"))
    parent, block = ask(node, calls.block(FIRST + 1), calls.block(FIRST + 2))
    assert block.parent_hash == parent.hash
    (logs,) = ask(node, calls.logs_of(CONTRACT, block.hash))
    assert tokens(merged(logs.mints)) == [7, 8, 9]
    assert {(mint.block_number, mint.block_hash) for mint in logs.mints} == {(block.number, block.hash)}


def test_the_contract_counts_what_it_minted() -> None:
    node = Node(Ledger(blocks=7, mints=3, quantity=5))
    asked = [calls.next_token_id(CONTRACT, FIRST), calls.total_supply(CONTRACT, calls.LATEST), calls.code(CONTRACT, 1)]
    assert ask(node, *asked) == [16, node.ledger.tokens, b""]
    assert ask(node, calls.supports(CONTRACT, "0x80ac58cd"), calls.supports(CONTRACT, "0xd9b67a26")) == [1, 0]


def test_too_many_logs_are_refused() -> None:
    node = Node(Ledger(blocks=7), most_logs=10)
    terms = {"fromBlock": hex(FIRST), "toBlock": "latest"}
    assert b"more than 10 results" in raw(node, {"id": 1, "method": "eth_getLogs", "params": [terms]})


def test_it_answers_over_http() -> None:
    with nodes.as_process(Ledger(blocks=7)) as url, httpx.Client() as client:
        for _ in range(2):
            answer = client.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []})
            assert answer.json() == {"jsonrpc": "2.0", "id": 1, "result": hex(CHAIN_ID)}


def ask(node: Node, *asked: Call[Any]) -> list[Any]:
    questions = [{"id": n, "method": call.method, "params": call.params} for n, call in enumerate(asked)]
    answers = msgspec.json.decode(raw(node, questions), type=list[dict[str, msgspec.Raw]])
    return [call.read(answer["result"]) for call, answer in zip(asked, answers, strict=True)]


def raw(node: Node, question: Any) -> bytes:
    return b"".join(node.answer(msgspec.json.encode(question)))


def tokens(mints: list[Mint]) -> list[int]:
    return [id for mint in mints for id in range(mint.first_token_id, mint.first_token_id + mint.quantity)]
