"""One question to a real endpoint that misbehaves: what comes back, and what is learned of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import msgspec

from glisk.chain import calls
from glisk.chain.mint import Contract
from glisk.chain.rpc.call import Call
from glisk.chain.rpc.limits import Limits
from glisk.chain.rpc.pool import Rpc
from tests.rpc import Clock, Node, served

CONTRACT = Contract(8453, "0x" + "ab" * 20)
BLOCK = calls.block(7)
SHORT = Limits(total=timedelta(seconds=5), request=timedelta(milliseconds=100), probe=timedelta(milliseconds=500))


def logs(first: int, last: int) -> Call[Any]:
    terms = {"fromBlock": hex(first), "toBlock": hex(last)}
    return Call("eth_getLogs", [terms], lambda raw: msgspec.json.decode(raw, type=list[Any]))


@asynccontextmanager
async def asking(*nodes: Node, limits: Limits = Limits(), clock: Clock | None = None) -> AsyncIterator[Rpc]:
    clock = clock or Clock()
    async with served(*nodes) as urls:
        rpc = Rpc(8453, urls, limits=limits, now=clock.now, sleep=clock.sleep)
        try:
            yield rpc
        finally:
            await rpc.close()


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
