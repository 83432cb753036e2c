"""What a worker should know of the rows that wait: when the next delayed one is due, so that it need not wait for the poll, and
whether there are suspects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeAlias

from glisk.engine.link import Link, LinkLost
from glisk.engine.statements import statement
from glisk.engine.workflow import WorkTable

ServedStep: TypeAlias = tuple[str, str, str]  # a workflow, a waiting state of it, and the active one

EVERY_S, SINCE, HORIZON = 1.0, timedelta(seconds=2), timedelta(minutes=1)


class Lookout:
    """`steps`: those served, by table. It looks when told that nothing more is ready, though not every time."""

    def __init__(self, link: Link, steps: Mapping[WorkTable, Sequence[ServedStep]], on_due: Callable[[], None]):
        self.link, self.steps, self.on_due = link, steps, on_due
        self.look = asyncio.Event()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        timer = loop.call_later(0, self.on_due)
        while True:
            await self.look.wait()
            self.look.clear()
            looked_at = loop.time()
            with suppress(LinkLost):
                if (seconds := await self.next_due()) is not None:
                    timer.cancel()
                    timer = loop.call_later(max(0.0, looked_at + seconds - loop.time()), self.on_due)
            await asyncio.sleep(EVERY_S)

    async def next_due(self) -> float | None:
        """Seconds from now; None when nothing is due soon."""
        rows = await self.ask("due", SINCE, HORIZON)
        return min((row["seconds"] for row in rows if row["seconds"] is not None), default=None)

    async def any_suspect(self) -> bool:
        return any(row["any"] for row in await self.ask("suspects"))

    async def ask(self, name: str, *terms: Any) -> list[Any]:
        """One row a table."""
        return [
            row
            for table, steps in self.steps.items()
            for row in await self.link.fetch(statement(name, table), *map(list, zip(*steps, strict=True)), *terms)
        ]
