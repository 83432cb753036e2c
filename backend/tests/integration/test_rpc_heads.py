"""The socket that tells of new blocks: it wakes, it is opened again, and its silence is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from glisk.chain.rpc.heads import Patience, heads
from tests.rpc import Socket, a_socket

QUICK = Patience(
    silence=timedelta(milliseconds=50), rest=timedelta(milliseconds=1), longest_rest=timedelta(milliseconds=2)
)
PATIENT = Patience(rest=timedelta(milliseconds=1), longest_rest=timedelta(milliseconds=2))


class Listener:
    """Woken; it knows a head of its own, which `goes_on` each time it is asked for."""

    def __init__(self) -> None:
        self.woken, self.calls, self.head, self.looks = asyncio.Event(), 0, 100, 0
        self.looked, self.goes_on = asyncio.Event(), False

    def wake(self) -> None:
        self.calls += 1
        self.woken.set()

    def moved(self) -> int:
        self.looks += 1
        self.looked.set()
        self.head += self.goes_on
        return self.head

    async def until_woken(self) -> None:
        async with asyncio.timeout(20):
            await self.woken.wait()
        self.woken.clear()


@asynccontextmanager
async def listening(url: str, patience: Patience) -> AsyncIterator[Listener]:
    listener = Listener()
    task = asyncio.create_task(heads(url, listener.wake, listener.moved, patience))
    yield listener
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_new_block_wakes() -> None:
    async with a_socket() as socket, listening(socket.url, PATIENT) as listener:
        await socket.until_visited(1)
        await socket.tell([101])
        await listener.until_woken()


async def test_a_flood_is_only_many_wakes() -> None:
    async with a_socket() as socket, listening(socket.url, PATIENT) as listener:
        await socket.until_visited(1)
        await socket.tell(range(2000))
        await listener.until_woken()
        await socket.tell([2000])
        while listener.calls < 2001:
            await listener.until_woken()
    assert socket.visits == 1


async def test_a_socket_that_was_closed_is_opened_again() -> None:
    async with a_socket() as socket, listening(socket.url, PATIENT) as listener:
        for times in (1, 2, 3):
            await socket.until_visited(times)
            await socket.tell([100 + times])
            await listener.until_woken()
            await socket.hang_up()
        await socket.until_visited(4)


async def test_a_silent_socket_is_noticed() -> None:
    async with a_socket() as socket, listening(socket.url, QUICK) as listener:
        await socket.until_visited(1)
        listener.goes_on = True
        await socket.until_visited(2)
        await socket.tell([106])
        await listener.until_woken()


async def chatting(socket: Socket) -> None:
    while True:
        await socket.say('{"jsonrpc":"2.0","method":"keepalive"}')
        await asyncio.sleep(0)


async def test_what_keeps_a_line_open_is_no_sign_of_life() -> None:
    async with a_socket() as socket, listening(socket.url, QUICK) as listener:
        await socket.until_visited(1)
        listener.goes_on = True
        chatter = asyncio.create_task(chatting(socket))
        await socket.until_visited(2)
        chatter.cancel()
    assert listener.calls == 0


async def test_a_silent_socket_is_kept_while_the_chain_rests() -> None:
    async with a_socket() as socket, listening(socket.url, QUICK) as listener:
        await socket.until_visited(1)
        before = listener.looks
        while listener.looks < before + 4:  # it looks each time the silence has lasted too long
            listener.looked.clear()
            async with asyncio.timeout(20):
                await listener.looked.wait()
        assert socket.visits == 1


async def test_a_node_without_subscriptions_is_asked_again_and_again() -> None:
    async with a_socket() as socket:
        socket.refuses = True
        async with listening(socket.url, QUICK) as listener:
            while listener.looks < 3:  # once for each connection
                listener.looked.clear()
                async with asyncio.timeout(20):
                    await listener.looked.wait()
            socket.refuses = False
            await socket.until_visited(1)


@pytest.mark.parametrize("url", ["ws://127.0.0.1:1", "ws://", "nonsense", "ws://no-such-host.invalid/key"])
async def test_whatever_is_wrong_with_the_address_it_goes_on_trying(url: str) -> None:
    async with listening(url, QUICK) as listener, asyncio.timeout(20):
        while listener.looks < 3:
            listener.looked.clear()
            await listener.looked.wait()


async def test_each_failure_makes_the_next_rest_longer_up_to_a_limit() -> None:
    rests: list[float] = []

    async def sleep(seconds: float) -> None:
        rests.append(seconds)
        await asyncio.sleep(0)
        if len(rests) == 8:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await heads("ws://127.0.0.1:1", lambda: None, lambda: 0, sleep=sleep, jitter=lambda: 1.0)
    assert rests == [0.5, 1, 2, 4, 8, 16, 30, 30]


async def test_after_a_block_was_heard_the_rest_is_short_again() -> None:
    rests: list[float] = []

    async def sleep(seconds: float) -> None:
        rests.append(seconds)
        socket.refuses = len(rests) < 3
        await asyncio.sleep(0)

    async with a_socket() as socket:
        socket.refuses, woken = True, asyncio.Event()
        task = asyncio.create_task(heads(socket.url, woken.set, lambda: 0, sleep=sleep, jitter=lambda: 1.0))
        await socket.until_visited(1)
        await socket.tell([101])
        await asyncio.wait_for(woken.wait(), 20)
        await socket.hang_up()
        await socket.until_visited(2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert rests == [0.5, 1, 2, 0.5]
