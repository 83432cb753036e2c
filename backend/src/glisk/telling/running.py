"""What every process does beside its own work: tell the operator's server what happens, and the operator what is wrong.

One of all processes does it at a time, whichever lives.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from glisk.engine.link import Link
from glisk.engine.periodic import Periodic, keep_time
from glisk.repositories.public_board import public_statuses
from glisk.settings import Settings
from glisk.telling.alerts import Alerts
from glisk.telling.outbox import Outbox
from glisk.telling.posting import Receiver
from glisk.telling.pulse import Pulse
from glisk.values import text

TELL_EVERY, LOOK_EVERY = timedelta(seconds=1), timedelta(seconds=5)
ASK_EVERY_S = 0.5


async def beside(url: str, settings: Settings, action: Coroutine[Any, Any, None]) -> None:
    """For as long as that takes."""
    async with telling(url, settings):
        await action


@asynccontextmanager
async def telling(url: str, settings: Settings) -> AsyncIterator[None]:
    """`settings` as the operator gave them: of a chain of their own blocks are expected."""
    task = asyncio.create_task(tell(url, settings))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def tell(url: str, settings: Settings) -> None:
    """For ever. Each has a clock of its own, so that a slow receiver of one does not keep the other waiting."""
    link = Link(url, name="glisk telling")
    webhooks, alerts = receivers(settings)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(Pulse(link, settings, alerts).watch())
            for work in works(link, settings, webhooks, alerts):
                tasks.create_task(keep_time(link, [work], ASK_EVERY_S))
    finally:
        await link.close()
        for receiver in (webhooks, alerts):
            if receiver:
                await receiver.close()


def works(link: Link, settings: Settings, webhooks: Receiver | None, alerts: Receiver | None) -> list[Periodic]:
    watch = Alerts(link, settings, alerts)
    found = [Periodic("alerts", LOOK_EVERY, watch.run)]
    if webhooks:
        found.append(Periodic("outbox", TELL_EVERY, Outbox(link, webhooks, shown_when(settings)).run))
    return found


def receivers(settings: Settings) -> tuple[Receiver | None, Receiver | None]:
    return (
        receiver(text(settings.webhook_url), text(settings.webhook_secret)),
        receiver(text(settings.alert_url), text(settings.alert_secret)),
    )


def receiver(url: str, secret: str) -> Receiver | None:
    return Receiver(url, secret) if url else None


def shown_when(settings: Settings) -> frozenset[str]:
    return frozenset(public_statuses(reveals=settings.reveals))
