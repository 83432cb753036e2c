"""Several endpoints of one chain: who is asked, who takes over, and when one goes back."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from glisk.chain import calls
from glisk.chain.rpc.call import Call, RangeTooWide, Refused, Rejected
from glisk.chain.rpc.limits import Limits
from glisk.chain.rpc.pool import Rpc
from glisk.chain.sending import asking as sending
from glisk.errors import RpcUnreachable, WrongChain
from tests.rpc import Clock, Node, Reply, asking, saying

BLOCK = calls.block(7)
BROKEN = Reply(b"<html>", status=502)
SHORT = Limits(request=timedelta(seconds=1))


def logs(first: int, last: int) -> Call[Any]:
    terms = {"fromBlock": hex(first), "toBlock": hex(last)}
    return Call("eth_getLogs", [terms], lambda raw: msgspec.json.decode(raw, type=list[Any]))


async def settled(rpc: Rpc) -> None:
    """Those not in use have been looked at."""
    await asyncio.gather(*rpc.probes.values())


async def test_the_first_that_is_well_is_asked() -> None:
    async with asking(first := Node(), second := Node()) as rpc:
        for _ in range(5):
            assert (await rpc.ask(BLOCK)).endpoint == first.url
    assert (len(first.asked), len(second.asked)) == (5, 0)


async def test_another_takes_over_from_one_that_is_gone() -> None:
    async with asking(Node(lives=False), second := Node()) as rpc:
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        assert [each.is_healthy for each in rpc.health()] == [False, True]


async def test_a_single_fault_does_not_make_one_leave_an_endpoint_that_lives() -> None:
    first = Node()
    first.faults.append(BROKEN)
    async with asking(first, second := Node()) as rpc:
        assert (await rpc.ask(BLOCK)).endpoint == first.url
    assert second.asked == []


async def test_one_that_lives_and_answers_badly_is_left() -> None:
    async with asking(first := Node(always=BROKEN), second := Node()) as rpc:
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        assert "502" in rpc.health()[0].why
    assert len(first.asked) == 2


async def test_one_stays_with_what_works_and_returns_only_when_the_better_one_has_been_well_for_a_while() -> None:
    async with asking(first := Node(lives=False), second := Node(), clock := Clock()) as rpc:
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        first.lives = True
        asked = []
        for _ in range(120):
            clock.time += 1
            asked.append((await rpc.ask(BLOCK)).endpoint)
            await settled(rpc)
        back = asked.index(first.url)
        assert back >= 59
        assert asked == [second.url] * back + [first.url] * (120 - back)


async def test_one_that_comes_and_goes_is_not_returned_to() -> None:
    async with asking(first := Node(lives=False), second := Node(), clock := Clock()) as rpc:
        for step in range(100):
            clock.time += 10
            first.lives = step % 6 > 3
            assert (await rpc.ask(BLOCK)).endpoint == second.url
            await settled(rpc)
    assert first.asked == []


async def test_nobody_is_switched_to_without_a_probe() -> None:
    async with asking(Node(lives=False), second := Node(lives=False), third := Node()) as rpc:
        assert (await rpc.ask(BLOCK)).endpoint == third.url
    assert (len(second.asked), second.probes) == (0, 1)


async def test_when_all_are_gone_it_is_said_and_when_one_comes_back_it_is_asked() -> None:
    async with asking(first := Node(lives=False), second := Node(lives=False), Clock()) as rpc:
        with pytest.raises(RpcUnreachable) as caught:
            await rpc.ask(BLOCK)
        assert first.url in str(caught.value)
        assert second.url in str(caught.value)
        assert first.probes < 15
        second.lives = True
        assert (await rpc.ask(BLOCK)).endpoint == second.url


async def test_an_endpoint_of_another_chain_is_never_asked() -> None:
    async with asking(first := Node(chain_id=1), second := Node(), clock := Clock()) as rpc:
        for _ in range(3):
            assert (await rpc.ask(BLOCK)).endpoint == second.url
            clock.time += 1000
        assert "chain 1, not 8453" in rpc.health()[0].why
    assert (first.asked, first.probes) == ([], 1)


async def test_an_endpoint_that_comes_back_as_another_chain_is_not_let_in() -> None:
    async with asking(first := Node(), second := Node(), clock := Clock()) as rpc:
        assert (await rpc.ask(BLOCK)).endpoint == first.url
        first.lives = False
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        first.lives, first.chain_id, second.lives = True, 1, False
        clock.time += 1000
        with pytest.raises(RpcUnreachable, match="chain 1"):
            await rpc.ask(BLOCK)


async def test_when_all_serve_another_chain_that_is_said() -> None:
    async with asking(Node(chain_id=1), Node(chain_id=10)) as rpc:
        with pytest.raises(WrongChain, match="chain 10"):
            await rpc.ask(BLOCK)


async def test_a_second_opinion_comes_from_another_and_changes_nothing() -> None:
    async with asking(first := Node(), second := Node()) as rpc:
        assert (await rpc.ask(BLOCK, other_than=first.url)).endpoint == second.url
        assert (await rpc.ask(BLOCK)).endpoint == first.url
        assert (await rpc.ask(BLOCK, other_than=second.url)).endpoint == first.url


async def test_a_second_opinion_of_the_same_is_better_than_none() -> None:
    async with asking(first := Node(), Node(lives=False)) as rpc:
        assert (await rpc.ask(BLOCK, other_than=first.url)).endpoint == first.url


async def test_while_one_cools_down_another_stands_in_and_no_longer() -> None:
    first = Node()
    first.faults.append(Reply(status=429, headers={"retry-after": "5"}))
    async with asking(first, second := Node(), clock := Clock()) as rpc:
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        clock.time += 4
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        clock.time += 2
        assert (await rpc.ask(BLOCK)).endpoint == first.url
    assert clock.slept == []


async def test_one_that_is_far_behind_is_passed_over_until_it_has_caught_up() -> None:
    async with asking(first := Node(head=1000), second := Node(head=1000), clock := Clock()) as rpc:
        await rpc.ask(BLOCK)
        second.head = 1026
        clock.time += 31
        await rpc.ask(BLOCK)
        await settled(rpc)  # the second was looked at
        rpc.saw_head(first.url, 1000)
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        assert "behind" in rpc.health()[0].why
        first.head = 1026
        clock.time += 31
        await rpc.ask(BLOCK)
        await settled(rpc)
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        clock.time += 61
        await rpc.ask(BLOCK)
        await settled(rpc)
        assert (await rpc.ask(BLOCK)).endpoint == first.url


async def test_one_that_is_behind_is_better_than_nobody() -> None:
    async with asking(first := Node(head=1000), second := Node(head=2000)) as rpc:
        await rpc.ask(BLOCK)
        await settled(rpc)
        rpc.saw_head(first.url, 1000)
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        second.lives = False
        assert (await rpc.ask(BLOCK)).endpoint == first.url


async def test_what_one_refuses_another_may_answer() -> None:
    first = Node(always=saying(-32601, "the method eth_getLogs does not exist/is not available"))
    async with asking(first, second := Node()) as rpc:
        assert (await rpc.ask(logs(1, 2))).endpoint == second.url
        second.always = first.always
        with pytest.raises(Refused, match="does not exist"):
            await rpc.ask(logs(1, 2))
        assert [each.is_healthy for each in rpc.health()] == [True, True]


async def test_one_block_that_is_too_big_for_one_may_fit_another() -> None:
    first = Node(always=saying(-32008, "Response size is larger than 150MB limit."))
    async with asking(first, second := Node()) as rpc:
        assert (await rpc.ask(logs(1, 1))).endpoint == second.url
        with pytest.raises(RangeTooWide):
            await rpc.ask(logs(1, 2))
        second.always = first.always
        with pytest.raises(RangeTooWide):
            await rpc.ask(logs(1, 1))


async def test_the_cap_on_ranges_is_that_of_whom_one_would_ask() -> None:
    async with asking(first := Node(plan=10), Node()) as rpc:
        with pytest.raises(RangeTooWide):
            await rpc.ask(logs(1, 100))
        await settled(rpc)
        assert rpc.range_cap() == 10
        assert rpc.range_cap(other_than=first.url) is None


async def test_many_that_find_one_gone_at_the_same_time_probe_it_once() -> None:
    async with asking(first := Node(), second := Node()) as rpc:
        await rpc.ask(BLOCK)
        await settled(rpc)
        first.lives, before = False, first.probes
        found = await asyncio.gather(*(rpc.ask(BLOCK) for _ in range(10)))
        assert {answer.endpoint for answer in found} == {second.url}
    assert first.probes - before <= 2


async def test_whoever_gives_up_leaves_no_place_taken() -> None:
    gate = asyncio.Event()
    node = Node(always=lambda body: Reply({"id": body["id"], "result": None}, held=gate))
    async with asking(node, limits=Limits(at_once=2)) as rpc:
        asked = [asyncio.create_task(rpc.ask(BLOCK)) for _ in range(6)]
        await node.until_busy(2)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        assert (rpc.endpoints[0].slots.busy, len(rpc.endpoints[0].slots.waiters)) == (0, 0)
        node.always = None
        assert (await rpc.ask(BLOCK)).results[0].number == 7
        gate.set()


async def test_a_black_hole_costs_a_deadline_and_no_more() -> None:
    held = asyncio.Event()
    first = Node(always=Reply(b"{}", held=held))
    async with asking(first, second := Node(), limits=SHORT) as rpc:
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        assert (await rpc.ask(BLOCK)).endpoint == second.url
        held.set()
    assert len(first.asked) == 2


@pytest.mark.parametrize(
    "said",
    [
        *("already known", "nonce too low", "replacement transaction underpriced", "txpool is full"),
        *("max fee per gas less than block base fee", "insufficient funds for gas * price + value"),
        *("intrinsic gas too low", "Sender account not authorized to send transactions"),
    ],
)
async def test_a_transaction_that_is_not_taken_is_the_sender_s_business_and_nobody_s_fault(said: str) -> None:
    first = Node(always=saying(-32007, said))
    async with asking(first, second := Node()) as rpc:
        for _ in range(5):
            with pytest.raises(Rejected, match="^" + re.escape(said)):
                await rpc.ask(sending.send(b"\x02"))
        assert rpc.health()[0].is_healthy
        assert rpc.current.url == first.url
    assert (len(first.asked), second.asked) == (5, [])
