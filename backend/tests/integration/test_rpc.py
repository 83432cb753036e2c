"""Questions to a real endpoint that misbehaves: what comes back, and what is learned of it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from glisk.chain import calls
from glisk.chain.mint import Contract
from glisk.chain.rpc.call import Call, NotThere, RangeTooWide, Refused
from glisk.chain.rpc.limits import Limits
from glisk.errors import RpcUnreachable
from tests.rpc import Clock, Node, Reply, asking, error, saying

CONTRACT = Contract(8453, "0x" + "ab" * 20)
BLOCK = calls.block(7)
SHORT = Limits(request=timedelta(milliseconds=250))


def logs(first: int, last: int) -> Call[Any]:
    terms = {"fromBlock": hex(first), "toBlock": hex(last)}
    return Call("eth_getLogs", [terms], lambda raw: msgspec.json.decode(raw, type=list[Any]))


async def test_a_single_call_is_a_plain_object() -> None:
    async with asking(node := Node()) as rpc:
        answer = await rpc.ask(BLOCK)
    assert (answer.results[0].number, answer.endpoint) == (7, node.url)
    assert [type(asked) for asked in node.asked] == [dict]


async def test_several_calls_are_one_request_and_their_answers_may_come_in_any_order() -> None:
    async with asking(node := Node(is_shuffled=True)) as rpc:
        answer = await rpc.ask(*(calls.block(number) for number in range(20)))
    assert [header.number for header in answer.results] == list(range(20))
    assert [len(asked) for asked in node.asked] == [20]


async def test_an_answer_may_be_compressed() -> None:
    async with asking(Node(is_zipped=True)) as rpc:
        assert (await rpc.ask(BLOCK)).results[0].number == 7


def lacking(body: Any) -> Reply:
    return Reply([{"id": question["id"], "result": None} for question in body[1:]])


def doubled(body: Any) -> Reply:
    return Reply([{"id": question["id"], "result": None} for question in [*body, body[0]]])


def strange(body: Any) -> Reply:
    return Reply([{"id": 10**9 + question["id"], "result": None} for question in body])


def empty(body: Any) -> Reply:
    return Reply([{"id": question["id"]} for question in body])


FAULTS: dict[str, Any] = {
    "bad gateway": Reply(b"<html>502 Bad Gateway</html>", status=502),
    "a page": Reply(b"<html>we are back soon</html>"),
    "nothing": Reply(b""),
    "no parts": Reply(b"[]"),
    "null": Reply(b"null"),
    "a word": Reply(b'"ok"'),
    "one for all": Reply(b'{"jsonrpc": "2.0", "id": 1, "result": "0x1"}'),
    "truncated": Reply(b'[{"jsonrpc": "2.0", "id": 2, "resu'),
    "not text": Reply(b"\xff\xfe\x00"),
    "too deep": Reply(b"[" * 100_000),
    "too deep inside": Reply(b'[{"id": 3, "result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]"),
    "not gzip": Reply(b"not gzip", headers={"content-encoding": "gzip"}),
    "cut": Reply([{"id": 1, "result": "0x1"}] * 3, cut=20),
    "reset": Reply(is_reset=True),
    "elsewhere": Reply(status=301, headers={"location": "http://127.0.0.1:1/"}),
    "a part lacks": lacking,
    "a part twice": doubled,
    "other ids": strange,
    "no results": empty,
    "internal error": saying(-32603, "Internal error"),
    "state lost": saying(-32000, "missing trie node"),
    "unreadable": lambda body: Reply([{"id": each["id"], "result": {"number": "seven"}} for each in body]),
    "of another type": lambda body: Reply([{"id": each["id"], "result": {"number": 7}} for each in body]),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_an_answer_that_is_none_is_asked_for_again(fault: Any) -> None:
    node = Node()
    node.faults.append(fault)
    async with asking(node) as rpc:
        assert [header.number for header in (await rpc.ask(BLOCK, calls.block(8))).results] == [7, 8]
        assert sum(rpc.health()[0].errors.values()) == 1
    assert len(node.asked) == 2


async def test_an_endpoint_that_never_answers_well_is_not_asked_for_ever() -> None:
    node = Node(always=Reply(b"<html>", status=500))
    async with asking(node, clock := Clock()) as rpc:
        with pytest.raises(RpcUnreachable, match="it answered 500"):
            await rpc.ask(BLOCK)
    assert clock.now() >= 1030
    assert len(node.asked) < 20


@pytest.mark.parametrize("drips", [False, True])
async def test_a_body_that_does_not_end_ends_at_the_deadline(drips: bool) -> None:
    held, node = asyncio.Event(), Node()
    node.faults.append(lambda body: Reply({"id": body["id"], "result": None}, held=held, drips=drips))
    async with asking(node, limits=SHORT) as rpc:
        assert (await rpc.ask(BLOCK)).results[0].number == 7
        assert set(rpc.health()[0].errors) == {"Faulty"}
        held.set()


async def test_nothing_waits_longer_than_the_deadline() -> None:
    held = asyncio.Event()
    node = Node(always=Reply([], held=held))
    async with asking(node, limits=Limits(total=timedelta(milliseconds=100))) as rpc:
        with pytest.raises(RpcUnreachable):
            await asyncio.wait_for(rpc.ask(BLOCK), 10)
        held.set()


async def test_an_answer_that_is_too_long_is_not_read_to_its_end() -> None:
    node = Node()
    node.faults.append(Reply(b"[" + b" " * 100_000 + b"]"))
    async with asking(node, limits=Limits(body=50_000)) as rpc:
        assert (await rpc.ask(BLOCK)).results[0].number == 7
        assert rpc.health()[0].errors == {"Faulty": 1}


async def test_a_call_that_may_fail_and_does_is_nothing_and_the_others_are_there() -> None:
    async with asking(Node()) as rpc:
        answer = await rpc.ask(BLOCK, calls.next_token_id(CONTRACT, 7))
    assert (answer.results[0].number, answer.results[1]) == (7, None)


async def test_a_call_that_may_not_fail_takes_the_others_along() -> None:
    async with asking(node := Node()) as rpc:
        with pytest.raises(Refused, match="reverted") as caught:
            await rpc.ask(BLOCK, Call("eth_call", [], lambda raw: raw))
    assert caught.value.is_revert
    assert len(node.asked) == 1


async def test_a_block_beyond_the_head_is_not_there() -> None:
    async with asking(node := Node(head=1000)) as rpc:
        with pytest.raises(NotThere, match="beyond current head"):
            await rpc.ask(logs(990, 1001))
        assert rpc.health()[0].is_healthy
    assert len(node.asked) == 1


async def test_a_range_that_is_too_wide_is_told_at_once_and_remembered() -> None:
    async with asking(node := Node(plan=10), clock := Clock()) as rpc:
        with pytest.raises(RangeTooWide) as caught:
            await rpc.ask(logs(1, 100), BLOCK)
        assert (caught.value.at_most, caught.value.is_plan) == (10, True)
        assert (rpc.range_cap(), rpc.health()[0].range_cap) == (10, 10)
        assert (await rpc.ask(logs(1, 10))).results == [[]]
    assert (len(node.asked), clock.slept) == (2, [])


async def test_dense_blocks_are_told_at_once_and_are_no_limit_of_the_plan() -> None:
    async with asking(Node(dense=10), clock := Clock()) as rpc:
        with pytest.raises(RangeTooWide) as caught:
            await rpc.ask(logs(1, 100))
        assert (caught.value.at_most, caught.value.is_plan) == (None, False)
        assert rpc.range_cap() is None
    assert clock.slept == []


async def test_a_range_that_is_twice_too_slow_is_too_wide() -> None:
    held = asyncio.Event()
    node = Node(always=Reply([], held=held))
    async with asking(node, limits=SHORT) as rpc:
        with pytest.raises(RangeTooWide, match="did not answer within"):
            await rpc.ask(logs(1, 100))
        held.set()
    assert len(node.asked) == 2


async def test_many_that_ask_an_endpoint_to_wait_wait_once() -> None:
    node = Node(always=Reply(status=429, headers={"retry-after": "7"}))
    async with asking(node, clock := Clock(), limits=Limits(total=timedelta(seconds=6))) as rpc:
        found = await asyncio.gather(*(rpc.ask(BLOCK) for _ in range(10)), return_exceptions=True)
        assert {type(each) for each in found} == {RpcUnreachable}
        assert rpc.health()[0].rate == 10.0  # halved once
    assert clock.now() < 1000 + 6 * 11


async def test_whoever_waited_for_a_turn_does_not_ask_one_that_wants_to_be_left_alone() -> None:
    node = Node(always=Reply(status=429, headers={"retry-after": "7"}))
    async with asking(node, limits=Limits(total=timedelta(seconds=6), at_once=1)) as rpc:
        found = await asyncio.gather(*(rpc.ask(BLOCK) for _ in range(10)), return_exceptions=True)
        assert {type(each) for each in found} == {RpcUnreachable}
    assert len(node.asked) == 1


async def test_an_endpoint_is_left_alone_for_as_long_as_it_asks() -> None:
    node = Node()
    node.faults.append(Reply(status=429, headers={"retry-after": "7"}))
    async with asking(node, clock := Clock()) as rpc:
        assert (await rpc.ask(BLOCK)).results[0].number == 7
        assert rpc.health()[0].errors == {"RateLimited": 1}
    assert (len(node.asked), clock.slept, node.probes) == (2, [7.0], 1)


async def test_an_absurd_wish_to_be_left_alone_is_not_granted() -> None:
    node = Node()
    node.faults.append(Reply(status=503, headers={"retry-after": "86400"}))
    async with asking(node, clock := Clock(), limits=Limits(total=timedelta(minutes=5))) as rpc:
        assert (await rpc.ask(BLOCK)).results[0].number == 7
    assert clock.slept == [60.0]


async def test_a_batch_that_is_refused_goes_in_as_many_parts_as_it_takes() -> None:
    async with asking(node := Node(batch=3)) as rpc:
        for _ in range(2):
            answer = await rpc.ask(*(calls.block(number) for number in range(7)))
            assert [header.number for header in answer.results] == list(range(7))
    assert size(node.asked[0]) == 7
    assert sorted(size(asked) for asked in node.asked[1:]) == [1, 1, 3, 3, 3, 3]


async def test_a_batch_may_be_refused_call_by_call() -> None:
    def refusing(body: Any) -> Reply | None:
        words = "Batch of more than 3 requests are not allowed on free tier"
        return Reply([error(each["id"], 31, words) for each in body], status=500) if size(body) > 3 else None

    async with asking(node := Node(always=refusing)) as rpc:
        answer = await rpc.ask(*(calls.block(number) for number in range(4)))
        assert [header.number for header in answer.results] == [0, 1, 2, 3]
    assert [size(asked) for asked in node.asked] == [4, 3, 1]


async def test_an_endpoint_that_takes_no_batches_is_asked_call_by_call() -> None:
    def refusing(body: Any) -> Reply | None:
        return Reply(error(None, -32600, "Invalid Request"), status=400) if isinstance(body, list) else None

    async with asking(node := Node(always=refusing)) as rpc:
        answer = await rpc.ask(*(calls.block(number) for number in range(4)))
        assert [header.number for header in answer.results] == [0, 1, 2, 3]
    assert [size(node.asked[at]) for at in (0, 1, -4, -3, -2, -1)] == [4, 2, 1, 1, 1, 1]


@pytest.mark.parametrize("calls", [(logs(1, 100),), (logs(1, 100), BLOCK)], ids=["alone", "in a batch"])
@pytest.mark.parametrize("is_listed", [False, True])
async def test_an_error_without_an_id_is_understood(calls: tuple[Call[Any], ...], is_listed: bool) -> None:
    said = error(None, -32602, "query exceeds max block range 50")
    async with asking(Node(always=Reply([said] if is_listed else said, status=400))) as rpc:
        with pytest.raises(RangeTooWide) as caught:
            await rpc.ask(*calls)
    assert caught.value.at_most == 50


async def test_whoever_stands_before_the_node_may_refuse_batches_too() -> None:
    node = Node(always=lambda body: Reply(b"<html>", status=405) if isinstance(body, list) else None)
    async with asking(node) as rpc:
        answer = await rpc.ask(BLOCK, calls.block(8))
        assert [header.number for header in answer.results] == [7, 8]


async def test_what_is_under_way_at_once_is_bounded_and_shrinks_when_it_fails() -> None:
    gate = asyncio.Event()
    node = Node(always=lambda body: Reply({"id": body["id"], "result": None}, held=gate))
    async with asking(node, limits=Limits(at_once=4)) as rpc:
        asked = [asyncio.create_task(rpc.ask(BLOCK)) for _ in range(12)]
        await node.until_busy(4)
        gate.set()
        await asyncio.gather(*asked)
        assert node.busiest == 4
        node.always = None
        node.faults.append(Reply(status=500))
        await rpc.ask(BLOCK)
        assert rpc.endpoints[0].slots.cap < 3


async def test_keys_are_never_shown() -> None:
    node, key = Node(), "Zq3xK9secretsecret"
    node.always = saying(-32000, f"invalid project id {key}")
    async with asking(node, path=f"/v2/{key}") as rpc:
        with pytest.raises(RpcUnreachable) as caught:
            await rpc.ask(BLOCK)
        assert rpc.health()[0].name == f"{node.url}/***"
        assert "invalid project id Zq3x…" in str(caught.value)
        assert key not in f"{caught.value} {rpc.health()}"


def size(asked: Any) -> int:
    return len(asked) if isinstance(asked, list) else 1
