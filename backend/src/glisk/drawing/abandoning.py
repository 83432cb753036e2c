"""What was ordered for a row that has ended without it: stopped at the provider, and closed with what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import structlog

from glisk.engine import ledger
from glisk.engine.link import Link
from glisk.engine.workflow import WorkTable
from glisk.errors import ProviderError
from glisk.providers.port import Order, Painter, Receipt

log = structlog.get_logger()


async def abandon(link: Link, painter: Painter, tables: Iterable[WorkTable], step: str, item: int | None = None) -> int:
    """How many were. Of one row, or of all; those of another provider are not ours to stop."""
    rows = [row for table in tables for row in await ledger.left_open(link.fetch, table, painter.name, step, item)]
    return sum([await abandoned(link, painter, row) for row in rows])


async def abandoned(link: Link, painter: Painter, row: Any) -> bool:
    """Who cannot be asked now is asked the next time."""
    try:
        cost = await painter.abandon(*lost_order(row))
    except ProviderError as error:
        log.warning("an order nobody wants could not be stopped yet", attempt=row["attempt_id"], error=error.said)
        return False
    log.info("stopped an order nobody wants", attempt=row["attempt_id"], receipt=row["receipt"])
    said = "Its row had ended"
    return await ledger.record(link.fetch, row["attempt_id"], "cancelled", cost=cost, error=said)


def lost_order(row: Any) -> tuple[Order, Receipt]:
    async def keep(_: str) -> None:
        """Nobody comes after us."""

    order = Order(row["prompt"] or "", row["seed"] or 0)
    return order, Receipt(keep, row["age"], is_resumed=True, value=row["receipt"])
