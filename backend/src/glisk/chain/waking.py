"""Tells a listener, in whatever process, to look at its chain now: a notification of PostgreSQL's. Losing one is harmless, since
listeners also poll."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glisk.engine.wakeup import hear

CHANNEL = "glisk_chain"


async def wake(fetch: Callable[..., Any]) -> None:
    await fetch("SELECT pg_notify($1, '')", CHANNEL)


async def listen(url: str, on_wake: Callable[[], None]) -> None:
    """For ever. Each reconnection counts as a call: one may have been missed."""
    await hear(url, {CHANNEL: lambda _: on_wake()}, on_wake, "listen to who wakes the listener")
