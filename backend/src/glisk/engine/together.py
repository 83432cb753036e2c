"""Group commit: many callers, one write. The next group forms while the last one is on its way, so nobody waits for a timer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from glisk.engine.link import LinkLost

T = TypeVar("T")
R = TypeVar("R")
Waiting: TypeAlias = "tuple[T, asyncio.Future[R]]"

MOST = 1000


class Together(Generic[T, R]):
    """Called with one item, it answers once that is written. `write` takes many, all or none of them."""

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[Sequence[R]]]) -> None:
        self.write = write
        self.waiting: list[Waiting[T, R]] = []
        self.flushing: asyncio.Task[None] | None = None

    async def __call__(self, item: T) -> R:
        answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self.waiting.append((item, answer))
        if self.flushing is None:
            self.flushing = asyncio.create_task(self.flush())
        return await answer

    async def flush(self) -> None:
        try:
            while self.waiting:
                group, self.waiting = self.waiting[:MOST], self.waiting[MOST:]
                await self.answer([(item, answer) for item, answer in group if not answer.done()])
        finally:
            self.flushing = None

    async def answer(self, group: Sequence[Waiting[T, R]]) -> None:
        """One that cannot be written must not spoil it for the others: then each is tried by itself. After a lost
        connection nobody knows what was written, so nothing is tried again."""
        try:
            results = await self.write([item for item, _ in group]) if group else []
        except LinkLost as error:
            fail([answer for _, answer in group], error)
        except Exception as error:  # noqa: BLE001 (it is the caller's, who gets it)
            if len(group) == 1:
                fail([group[0][1]], error)
            else:
                for waiting in group:
                    await self.answer([waiting])
        else:
            for (_, answer), result in zip(group, results, strict=True):
                if not answer.done():  # its caller may have gone away meanwhile
                    answer.set_result(result)


def fail(answers: Sequence[asyncio.Future[R]], error: Exception) -> None:
    for answer in answers:
        if not answer.done():
            answer.set_exception(error)
