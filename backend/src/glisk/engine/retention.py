"""Forgets what ended long ago: rows and their events. What was paid for them stays in the ledger."""

from __future__ import annotations

from datetime import timedelta

import structlog

from glisk.engine.link import Link
from glisk.engine.periodic import Periodic
from glisk.engine.statements import statement
from glisk.engine.workflow import WorkTable

log = structlog.get_logger()

BATCH = 1000  # a statement of some milliseconds: nobody waits long for what it locks
EVERY = timedelta(hours=1)


async def prune(link: Link, table: WorkTable, keep: timedelta, *, batch: int = BATCH) -> int:
    """How many rows went. Each batch commits by itself, so whatever interrupts it, the next one goes on from there."""
    pruned, last = 0, batch
    while last == batch:
        last = len(await link.fetch(statement("prune", table), keep, batch))
        pruned += last
    return pruned


def works(link: Link, table: WorkTable, keep: timedelta) -> list[Periodic]:
    """For `keep_time`: once an hour, by one of all processes. None where everything is kept for ever."""

    async def run() -> None:
        if pruned := await prune(link, table, keep):
            log.info("pruned", table=table.name, rows=pruned, older_than=str(keep))

    return [Periodic(f"prune {table.name}", EVERY, run)] if keep else []
