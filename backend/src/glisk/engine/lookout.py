"""Wakes a worker when the next delayed row is due, so that it need not wait for the poll."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from glisk.engine.link import Link, LinkLost
from glisk.engine.statements import statement
from glisk.engine.workflow import WorkTable

EVERY_S, SINCE, HORIZON = 1.0, timedelta(seconds=2), timedelta(minutes=1)


class Lookout:
    """`steps` are (workflow, waiting state) by table. It looks when told that nothing more is ready, though not every time."""

    def __init__(self, link: Link, steps: Mapping[WorkTable, Sequence[tuple[str, str]]], on_due: Callable[[], None]):
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
        found: list[float] = []
        for table, steps in self.steps.items():
            names, waitings = map(list, zip(*steps, strict=True))
            (row,) = await self.link.fetch(statement("due", table), names, waitings, SINCE, HORIZON)
            found += [row["seconds"]] if row["seconds"] is not None else []
        return min(found, default=None)
