"""How many rows does a question read? Counted by PostgreSQL itself, within one transaction, so that nothing else is counted along."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import TypeVar, cast

from glisk.engine.link import Link

T = TypeVar("T")
READ = "SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) AS rows FROM pg_stat_xact_user_tables WHERE relname = $1"


async def rows_read(link: Link, table: str, asked: Callable[[Link], Awaitable[T]]) -> tuple[T, int]:
    """What came of it, and of how many rows of this table."""
    async with link.transaction() as fetch:
        found = await asked(cast(Link, SimpleNamespace(fetch=fetch)))
        (row,) = await fetch(READ, table)
    return found, int(row["rows"])
