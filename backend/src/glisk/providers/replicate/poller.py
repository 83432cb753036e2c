"""Waits for predictions: one poller for all that a process has under way, so that hundreds cost a few requests a second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from glisk.errors import NotAllowed, ProviderError, RateLimited
from glisk.providers.replicate.output import is_over
from glisk.providers.replicate.prediction import Prediction

log = structlog.get_logger()

Looked: TypeAlias = Mapping[str, Prediction | ProviderError]  # an error: there is nothing more to wait for

SOON_S = 0.25  # what is due within this is looked at together


@dataclass(frozen=True, slots=True)
class Rhythm:
    """The first look comes after `first` seconds, and each further one later, up to `longest`."""

    first: float = 0.5
    growth: float = 1.5
    longest: float = 2.0


@dataclass(slots=True)
class Waiter:
    future: asyncio.Future[Prediction]
    rest: float
    due_at: float
    callers: int = 0


class Poller:
    """`look` returns those it found of the ids it is given, and may raise a ProviderError. `is_over`: whether there is no more to
    wait for."""

    def __init__(
        self,
        look: Callable[[Collection[str]], Awaitable[Looked]],
        rhythm: Rhythm,
        is_over: Callable[[Prediction], bool] = is_over,
    ) -> None:
        self.look, self.rhythm, self.is_over = look, rhythm, is_over
        self.waiters: dict[str, Waiter] = {}
        self.changed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def ended(self, id: str) -> Prediction:
        """The prediction, once it is over. Whoever waits for the same one waits along; the last to give up ends it."""
        loop, rest = asyncio.get_running_loop(), self.rhythm.first
        waiter = self.waiters.setdefault(id, Waiter(loop.create_future(), rest, loop.time() + rest))
        waiter.callers += 1
        self.changed.set()
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self.run())
        try:
            return await asyncio.shield(waiter.future)
        finally:
            waiter.callers -= 1
            if not waiter.callers and self.waiters.get(id) is waiter:
                del self.waiters[id]

    def hint(self, id: str) -> None:
        """Somebody says that there is news of it. Nobody is believed: it is looked at, now."""
        if waiter := self.waiters.get(id):
            waiter.due_at = 0.0
            self.changed.set()

    async def run(self) -> None:
        """While anybody waits. If it ends otherwise, nobody is left to wait for nothing."""
        try:
            while self.waiters:
                await self.until_due()
                await self.round({id for id, waiter in self.waiters.items() if waiter.due_at <= self.now() + SOON_S})
        finally:
            for waiter in self.waiters.values():
                waiter.future.cancel()

    async def until_due(self) -> None:
        while self.waiters and (rest := min(waiter.due_at for waiter in self.waiters.values()) - self.now()) > 0:
            self.changed.clear()
            try:
                async with asyncio.timeout(rest):
                    await self.changed.wait()
            except TimeoutError:
                return

    async def round(self, due: Collection[str]) -> None:
        """A look that fails is no news: the predictions go on, and so does the waiting, until whoever waits gives up. The
        predictions of who is not let in go on too, but there is no use in asking."""
        try:
            found = await self.look(due)
        except RateLimited as error:
            self.put_off(due, error.after.total_seconds())
        except NotAllowed as error:  # nobody is let in before a person has mended that
            for id in self.waiters.keys() & set(due):
                self.waiters.pop(id).future.set_exception(error)
        except ProviderError as error:
            log.warning("could not look at predictions", error=error.said, predictions=len(due))
            self.put_off(due, self.rhythm.longest)
        else:
            for id in due:
                if waiter := self.waiters.get(id):
                    self.seen(id, waiter, found.get(id))

    def seen(self, id: str, waiter: Waiter, found: Prediction | ProviderError | None) -> None:
        if isinstance(found, ProviderError):
            self.waiters.pop(id).future.set_exception(found)
        elif found and self.is_over(found):
            self.waiters.pop(id).future.set_result(found)
        else:
            waiter.rest = min(waiter.rest * self.rhythm.growth, self.rhythm.longest)
            waiter.due_at = self.now() + waiter.rest

    def put_off(self, ids: Collection[str], seconds: float) -> None:
        for id in self.waiters.keys() & set(ids):
            self.waiters[id].due_at = self.now() + seconds

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def close(self) -> None:
        if self.task:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
