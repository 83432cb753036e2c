"""Many callers, one transaction: the first waits a little for others to come along; the next group forms while one is on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from glisk.engine.together import Waiting, fail

T = TypeVar("T")
R = TypeVar("R")


class Gathering(Generic[T, R]):
    """Called with one item, it answers once `act` has dealt with it and whoever came along: at most so many, so many seconds late."""

    def __init__(self, act: Callable[[Sequence[T]], Awaitable[Sequence[R]]], most: int, linger: float) -> None:
        self.act, self.most, self.linger = act, most, linger
        self.waiting: list[Waiting[T, R]] = []
        self.timer: asyncio.TimerHandle | None = None
        self.acting: set[asyncio.Task[None]] = set()

    async def __call__(self, item: T) -> R:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[R] = loop.create_future()
        self.waiting.append((item, answer))
        if len(self.waiting) >= self.most:
            self.go()
        elif self.timer is None:
            self.timer = loop.call_later(self.linger, self.go)
        return await answer

    def go(self) -> None:
        """Without those who have left meanwhile. When all have left, it is broken off."""
        if self.timer:
            self.timer.cancel()
        self.timer = None
        group, self.waiting = [waiting for waiting in self.waiting if not waiting[1].done()], []
        if group:
            task = asyncio.create_task(self.answer(group))
            self.acting.add(task)
            task.add_done_callback(self.acting.discard)
            for _, answer in group:
                answer.add_done_callback(lambda _: leave(group, task))

    async def answer(self, group: Sequence[Waiting[T, R]]) -> None:
        """Whatever happens, nobody is left waiting."""
        try:
            found = list(zip(group, await self.act([item for item, _ in group]), strict=True))
        except Exception as error:  # noqa: BLE001 (it is the callers', who get it)
            fail([answer for _, answer in group], error)
        else:
            for (_, answer), result in found:
                if not answer.done():
                    answer.set_result(result)
        finally:
            for _, answer in group:
                answer.cancel()  # unless it has been answered

    async def close(self) -> None:
        if self.timer:
            self.timer.cancel()
        for _, answer in self.waiting:
            answer.cancel()
        self.waiting, self.timer = [], None
        acting = list(self.acting)
        for task in acting:
            task.cancel()
        await asyncio.gather(*acting, return_exceptions=True)


def leave(group: Sequence[Waiting[T, R]], task: asyncio.Task[None]) -> None:
    if all(answer.done() for _, answer in group):
        task.cancel()
