"""Tells when there may be work: PostgreSQL's notifications, on a connection of their own. Losing one is harmless, since workers also poll."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from glisk.engine.link import Link, LinkLost, persistently

WORK, LOST = "glisk_work", "glisk_lost"
CHECK_EVERY_S = 10.0


async def listen(url: str, on_work: Callable[[str], None], on_lost: Callable[[], None]) -> None:
    """For ever. Each reconnection counts as a notification: some may have been missed."""
    link = Link(url)

    async def hear() -> None:
        await link.listen(WORK, on_work)
        await link.listen(LOST, lambda _: on_lost())
        on_work("")
        await until_broken(link)

    try:
        await persistently(hear, "listen")
    finally:
        await link.close()


async def until_broken(link: Link) -> None:
    """A dead peer says nothing; only asking finds out."""
    while True:
        await asyncio.sleep(CHECK_EVERY_S)
        try:
            await asyncio.wait_for(link.fetch("SELECT 1"), CHECK_EVERY_S)
        except TimeoutError as error:
            await link.close()
            raise LinkLost("no answer") from error


async def notify(fetch: Callable[..., Any], workflow: str) -> None:
    await fetch("SELECT pg_notify($1, $2)", WORK, workflow)
