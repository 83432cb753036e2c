"""Tells when there may be work: PostgreSQL's notifications, on a connection of their own. Losing one is harmless, since workers also poll."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glisk.engine.link import Link, persistently

WORK, LOST = "glisk_work", "glisk_lost"
CHECK_EVERY_S = 10.0


async def listen(url: str, on_work: Callable[[str], None], on_lost: Callable[[], None]) -> None:
    """For ever. Each reconnection counts as a notification of either kind: some may have been missed."""
    link = Link(url)

    async def hear() -> None:
        hearing = await link.listen({WORK: on_work, LOST: lambda _: on_lost()})
        on_work("")
        on_lost()
        await hearing.until_lost(CHECK_EVERY_S)

    try:
        await persistently(hear, "listen")
    finally:
        await link.close()


async def notify(fetch: Callable[..., Any], workflow: str) -> None:
    await fetch("SELECT pg_notify($1, $2)", WORK, workflow)
