"""Writes what was decided, in groups: the next one forms while the last one is on its way, so nothing waits for a timer."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence

import structlog

from glisk.engine import ledger, store
from glisk.engine.decide import Transition, storable
from glisk.engine.link import Link, persistently
from glisk.engine.store import Decided
from glisk.engine.workflow import FAILED, WorkTable

log = structlog.get_logger()

GROUP = 1000


class Settler:
    """`on_settled` hears of every id once its fate is written, or known to be somebody else's."""

    def __init__(
        self, link: Link, actor: str, good: Sequence[str], on_settled: Callable[[Sequence[Decided]], None]
    ) -> None:
        self.link, self.actor, self.good, self.on_settled = link, actor, good, on_settled
        self.waiting: defaultdict[WorkTable, list[Decided]] = defaultdict(list)
        self.wake = asyncio.Event()

    def put(self, table: WorkTable, decided: Decided) -> None:
        self.waiting[table].append(decided)
        self.wake.set()

    async def run(self) -> None:
        while True:
            await self.wake.wait()
            self.wake.clear()
            while any(self.waiting.values()):
                for table in list(self.waiting):
                    await self.flush(table)

    async def flush(self, table: WorkTable) -> None:
        group, self.waiting[table] = self.waiting[table][:GROUP], self.waiting[table][GROUP:]
        if group:
            await self.write_or_split(table, group)
            asyncio.get_running_loop().call_soon(self.on_settled, group)  # when the next group was sent

    async def write_or_split(self, table: WorkTable, group: Sequence[Decided]) -> None:
        """What cannot be written, whatever a processor left in its verdict, must not hold up the others: halves are tried until
        the one row is found, and that fails."""
        try:
            # Sent again after a lost answer it changes nothing: the epoch has moved.
            await persistently(lambda: self.write(table, group), "settle")
        except Exception as error:  # noqa: BLE001 (a processor may leave anything in a verdict)
            log.error("settle refused", error=repr(error), rows=len(group))
            if len(group) == 1:
                group = [(group[0][0], refused(table, group[0], error))]
                await persistently(lambda: self.write(table, group), "settle")
            else:
                await self.write_or_split(table, group[: len(group) // 2])
                await self.write_or_split(table, group[len(group) // 2 :])

    async def write(self, table: WorkTable, group: Sequence[Decided]) -> None:
        if any(to.closes for _, to in group):
            return await self.write_whole(table, group)
        settled = await store.settle(self.link.fetch, table, group, self.actor, with_parents=False)
        if table.edges and len(settled) < len(group):
            await self.write_whole(table, [decided for decided in group if decided[0].id not in settled])
        return None

    async def write_whole(self, table: WorkTable, group: Sequence[Decided]) -> None:
        """With what must happen in the same transaction: children are released, paid calls closed. Not those of a row that
        is somebody else's by now: they are that one's to close."""
        async with self.link.transaction() as fetch:
            settled = await store.settle(fetch, table, group, self.actor)
            if table.edges:
                await store.release(fetch, table, [id for id, releases in settled.items() if releases], self.good)
            for row, to in group:
                if to.closes and row.id in settled:
                    await ledger.close(fetch, to.closes)


def refused(table: WorkTable, decided: Decided, error: Exception) -> Transition:
    """Without the facts: one of them is what was refused."""
    message = f"The result could not be written: {error}"
    return Transition(FAILED, is_final=True, retry_count=decided[0].retry_count, facts={table.error: storable(message)})
