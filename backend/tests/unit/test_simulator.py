"""The simulated chain and its nodes are what they say: the same for a seed, linked, and honest once they have settled."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import pytest

from tests.simulator import log
from tests.simulator.nodes import Nodes, Reply, drawn
from tests.simulator.server import served
from tests.simulator.tree import ADDRESS, DEPLOYED, Kind, Tree
from tests.simulator.weather import CALM, ROUGH, Fault

SEEDS = range(5)


def a_lived_tree(seed: int, kind: Kind = Kind.GLISK) -> Tree:
    tree = Tree(seed, kind)
    for turn in range(60):
        tree.grow()
        if turn % 5 == 4:
            tree.reorganise(1 + turn % 10)
    return tree


def ask(nodes: Nodes, method: str, *params: Any) -> Any:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return json.loads(nodes.reply(body.encode()).body)["result"]


def conversation(nodes: Nodes) -> Iterator[Reply]:
    """A follower's, more or less: it looks at the head, then asks about the last blocks."""
    while nodes.settled_at is None:
        yield nodes.reply(b'[{"id": 1, "method": "eth_blockNumber"}]')
        head = nodes.tree.head.number
        terms = {"address": ADDRESS, "fromBlock": hex(head - 5), "toBlock": hex(head)}
        yield nodes.reply(json.dumps({"id": 2, "method": "eth_getLogs", "params": [terms]}).encode())


@pytest.mark.parametrize("kind", Kind)
def test_the_same_seed_makes_the_same_tree(kind: Kind) -> None:
    one, other = a_lived_tree(7, kind), a_lived_tree(7, kind)
    assert [block.hash for block in one.canonical] == [block.hash for block in other.canonical]
    assert one.canonical_mints(one.head.number) == other.canonical_mints(other.head.number)


def test_another_seed_makes_another_tree() -> None:
    assert a_lived_tree(7).head.hash != a_lived_tree(8).head.hash


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_chain_is_linked_and_the_branch_it_left_is_not_on_it(seed: int, kind: Kind) -> None:
    tree = a_lived_tree(seed, kind)
    before = tree.canonical.copy()
    tree.reorganise(10)
    assert [block.number for block in tree.canonical] == list(range(len(tree.canonical)))
    assert all(block.parent is parent for parent, block in pairwise(tree.canonical))
    assert len(tree.canonical) > len(before)
    assert tree.canonical[: len(before) - 10] == before[:-10]
    assert not set(tree.canonical) & set(before[-10:])


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_truth_is_what_the_logs_on_the_chain_say(seed: int, kind: Kind) -> None:
    tree = a_lived_tree(seed, kind)
    truth = tree.canonical_mints(tree.head.number)
    logs = [(key, entry) for key, entry in tree.canonical_logs(tree.head.number).items() if entry.is_readable]
    transfers = [(key, entry) for key, entry in logs if entry.topics[0] == log.TRANSFER]
    said = {int(entry.topics[3], 16): (entry.topics[2], key[0], entry.tx) for key, entry in transfers}
    assert said == {m.token_id: (log.word(m.minter), m.block_hash, m.tx) for m in truth.values()}
    assert len(transfers) == len(truth) > 50
    authors = {
        token_id: entry.topics[2]
        for _, entry in logs
        if entry.topics[0] == log.BATCH_MINTED
        for token_id in range(int(entry.topics[3], 16), int(entry.topics[3], 16) + int(entry.data[2:66], 16))
    }
    expected = {m.token_id: log.word(m.author) for m in truth.values()} if kind is Kind.GLISK else {}
    assert authors == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_ids_have_no_gap_and_next_token_id_counts_them(seed: int) -> None:
    tree = a_lived_tree(seed)
    for block in tree.canonical[DEPLOYED:]:
        assert sorted(tree.canonical_mints(block.number)) == list(range(1, block.next_token_id))


def test_a_reorg_gives_ids_to_others_and_mines_most_orders_again() -> None:
    tree = Tree(1)
    for _ in range(40):
        tree.grow()
    before = tree.canonical_mints(tree.head.number)
    tree.reorganise(10)
    for _ in range(20):
        tree.grow()
    after = tree.canonical_mints(tree.head.number)
    assert any(after[id].author != before[id].author for id in before.keys() & after.keys())
    moved = {m.tx for m in before.values()} - {m.tx for m in tree.canonical_mints(tree.head.number - 31).values()}
    again = moved & {m.tx for m in after.values()}
    assert 0.5 < len(again) / len(moved) < 1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_questions_get_the_same_answers(seed: int) -> None:
    assert list(conversation(drawn(seed))) == list(conversation(drawn(seed)))


def test_everything_that_can_go_wrong_does() -> None:
    tally: Counter[str] = Counter()
    for seed in range(10):
        nodes = drawn(seed)
        deque(conversation(nodes), maxlen=0)
        tally += nodes.tally
    assert {fault.name for fault in Fault} <= set(tally)
    assert tally["reorg"] > 50


def test_a_head_may_go_backwards_while_things_go_wrong() -> None:
    nodes = Nodes(Tree(3), ROUGH, 200)
    heads = list[int]()
    while nodes.settled_at is None:
        reply = nodes.reply(b'{"id": 1, "method": "eth_blockNumber"}')
        answer = json.loads(reply.body) if reply.status == 200 and reply.fault is not Fault.TRUNCATED else {}
        heads += [int(answer["result"], 16)] if "result" in answer else []
    assert any(later < earlier for earlier, later in pairwise(heads))


@pytest.mark.parametrize("seed", SEEDS)
def test_settled_nodes_tell_the_truth(seed: int) -> None:
    nodes = drawn(seed)
    deque(conversation(nodes), maxlen=0)
    assert nodes.weather is CALM
    tree, height = nodes.tree, nodes.tree.head.number
    width, found = nodes.cap or 50, list[tuple[bytes, int]]()
    for first in range(0, height + 1, width):
        terms = {"fromBlock": hex(first), "toBlock": hex(min(height, first + width - 1)), "address": ADDRESS}
        entries = ask(nodes, "eth_getLogs", terms)
        mints = [e for e in entries if e["topics"][0] == log.BATCH_MINTED or e["topics"][1] == log.word(log.NOBODY)]
        found += [(bytes.fromhex(e["blockHash"][2:]), int(e["logIndex"], 16)) for e in mints]
    assert found == list(tree.canonical_logs(height))
    for block in tree.canonical:
        assert ask(nodes, "eth_getBlockByNumber", hex(block.number), False)["hash"] == f"0x{block.hash.hex()}"


def test_settled_nodes_grow_one_block_a_look_and_know_their_tags() -> None:
    nodes = Nodes(Tree(1))
    heights = [int(ask(nodes, "eth_getBlockByNumber", "latest", False)["number"], 16) for _ in range(12)]
    assert heights == [DEPLOYED + look // nodes.looks_per_step for look in range(1, 13)]
    behind = [int(ask(nodes, "eth_getBlockByNumber", tag, False)["number"], 16) for tag in ("safe", "finalized")]
    assert behind == [nodes.tree.head.number - 12, nodes.tree.head.number - 20]


async def test_the_door_speaks_http() -> None:
    nodes = Nodes(Tree(1), is_moving=False)
    async with served(nodes) as url, httpx.AsyncClient() as http:
        batch = [{"id": n, "method": "eth_chainId"} for n in (1, 2)]
        answer = await http.post(url, json=batch)
        assert [entry["result"] for entry in answer.json()] == ["0x7a69"] * 2
        nodes.weather = CALM.but(BUSY=1)
        busy = await http.post(url, json=batch)
        assert (busy.status_code, busy.headers["retry-after"]) == (429, "0")
        nodes.weather = CALM.but(HUNG_UP=1)
        with pytest.raises(httpx.TransportError):
            await http.post(url, json=batch)
        nodes.weather = CALM.but(SILENT=1)
        with pytest.raises(httpx.ReadTimeout):
            await http.post(url, json=batch, timeout=0.05)
        nodes.weather = CALM.but(TRUNCATED=1)
        with pytest.raises(ValueError):
            (await http.post(url, json=batch)).json()
