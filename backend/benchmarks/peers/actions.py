"""What contestants do alike, given how each of them sends a job and how it works on one."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

import psutil

Send: TypeAlias = Callable[[int], Awaitable[object]]  # returns when the job of this number is committed
Handle: TypeAlias = Callable[[int], Awaitable[None]]  # the work on the job of this number


class Peer(Protocol):
    def sending(self, url: str, connections: int) -> AbstractAsyncContextManager[Send]: ...

    def working(self, url: str, handle: Handle) -> AbstractAsyncContextManager[None]: ...


class Count:
    """Counts up; whoever waits for a number is woken by it."""

    def __init__(self) -> None:
        self.n = 0
        self.awaited: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)

    def up(self) -> None:
        self.n += 1
        self.awaited[self.n].set()

    async def reached(self, n: int) -> None:
        await self.awaited[n].wait()


async def enqueue_each(peer: Peer, url: str, n: int, callers: int) -> float:
    """Seconds. Every caller sends one job after the other."""
    async with peer.sending(url, callers) as send:

        async def call(jobs: int) -> None:
            for k in range(jobs):
                await send(k)

        await asyncio.gather(*(call(10) for _ in range(callers)))  # opens connections, prepares statements
        started = time.perf_counter()
        await asyncio.gather(*(call(n // callers) for _ in range(callers)))
        return time.perf_counter() - started


async def produce(peer: Peer, url: str, n: int, rate: int) -> list[tuple[float, float]]:
    """When each job was sent, and its commit known here. The gaps are random, and the same for every contestant."""
    gaps, produced = random.Random(n), list[tuple[float, float]]()
    async with peer.sending(url, 1) as send:
        due = time.monotonic()
        for k in range(n):
            due += gaps.expovariate(rate)
            await asyncio.sleep(due - time.monotonic())
            sent = time.monotonic()
            await send(k)
            produced.append((sent, time.monotonic()))
    return produced


async def serve(peer: Peer, url: str, n: int, warm_up: int, ms: int) -> list[float]:
    """When each job started, by number; of two with one number the later, so those of the warm-up do not count."""
    started, ended = dict[int, float](), Count()

    async def handle(k: int) -> None:
        started[k] = time.monotonic()
        await asyncio.sleep(ms / 1000)
        ended.up()

    async with peer.working(url, handle):
        await ended.reached(warm_up)
        await say_ready()
        await ended.reached(warm_up + n)
    return [started[k] for k in range(n)]


async def hold(peer: Peer, url: str, n: int, warm_up: int) -> int:
    """How many bytes this process grew by when it had that many jobs at work."""
    begun, release = Count(), asyncio.Event()

    async def handle(_: int) -> None:
        begun.up()
        if begun.n > warm_up:
            await release.wait()

    async with peer.working(url, handle):
        await begun.reached(warm_up)
        await say_ready()
        before = resident()
        await begun.reached(warm_up + n)
        grown = resident() - before
        release.set()
    return grown


async def say_ready() -> None:
    """After a moment: its listeners are on, its last results written."""
    await asyncio.sleep(1)
    print("ready", flush=True)


def resident() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)
