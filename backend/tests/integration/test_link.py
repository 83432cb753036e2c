"""A connection that is opened again after it was lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from glisk.engine.link import Link


async def test_a_copy_that_is_broken_off_leaves_a_link_that_works(link: Link) -> None:
    begun = asyncio.Event()

    async def rows() -> AsyncIterator[tuple[str]]:
        yield ("0x" + "ab" * 20,)
        begun.set()
        await asyncio.Event().wait()

    async def copy(records: Any) -> None:
        async with link.transaction() as fetch:
            await fetch.copy("authors", ["wallet_address"], records)

    task = asyncio.create_task(copy(rows()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [row["n"] for row in await link.fetch("SELECT count(*) AS n FROM authors")] == [0]


async def test_it_is_shown_by_its_name(database_url: str) -> None:
    link = Link(database_url, name="glisk test")
    rows = await link.fetch("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")
    await link.close()
    assert [row["application_name"] for row in rows] == ["glisk test"]
