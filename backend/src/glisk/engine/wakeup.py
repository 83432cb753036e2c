"""Tells when there may be work: PostgreSQL's notifications, on a connection of their own. Losing one is harmless, since workers also poll."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from glisk.engine.link import Link, persistently

WORK, LOST, TOLD = "glisk_work", "glisk_lost", "glisk_told"
CHECK_EVERY_S = 10.0


async def listen(
    url: str, on_work: Callable[[str], None], on_lost: Callable[[], None], on_told: Callable[[str], None]
) -> None:
    """For ever. Each reconnection counts as a notification that there is work and that claims were lost: some may have been
    missed. `on_told` hears of receipts that have news, and can do without."""

    def on_open() -> None:
        on_work("")
        on_lost()

    await hear(url, {WORK: on_work, LOST: lambda _: on_lost(), TOLD: on_told}, on_open, "listen")


async def hear(url: str, hearers: Mapping[str, Callable[[str], None]], on_open: Callable[[], None], what: str) -> None:
    """For ever, each channel to its hearer. `on_open`: after every connection, since something may have been missed before it."""
    link = Link(url)

    async def once() -> None:
        hearing = await link.listen(hearers)
        on_open()
        await hearing.until_lost(CHECK_EVERY_S)

    try:
        await persistently(once, what)
    finally:
        await link.close()


async def notify(fetch: Callable[..., Any], workflow: str) -> None:
    await fetch("SELECT pg_notify($1, $2)", WORK, workflow)


async def tell(fetch: Callable[..., Any], receipt: str) -> None:
    """Somebody outside says that there is news of this order."""
    await fetch("SELECT pg_notify($1, $2)", TOLD, receipt)
