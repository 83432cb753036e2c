"""Does the database answer? Where it does not, nothing can be looked up or written down: so each process tells that by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
import structlog

from glisk.engine.link import Link, LinkLost
from glisk.repositories.alert_board import Alert
from glisk.settings import Settings
from glisk.telling.alerts import Phase, id_of, written
from glisk.telling.posting import NotTaken, Receiver

log = structlog.get_logger()

LOOK_EVERY_S = 5.0
MESSAGE = "PostgreSQL does not answer: nothing is drawn, pinned or revealed. Nothing is lost"
FIX = "Start it, or correct GLISK_DATABASE_URL: glisk doctor"


def moment() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Pulse:
    """`alert`: it does not answer, since then; told or not."""

    link: Link
    settings: Settings
    receiver: Receiver | None
    now: Callable[[], datetime] = moment
    alert: Alert | None = None

    async def watch(self) -> None:
        """For ever."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY_S)

    async def look(self) -> None:
        try:
            await self.link.fetch("SELECT 1")
        except LinkLost:
            await self.is_lost()
        else:
            await self.is_back()

    async def is_lost(self) -> None:
        now = self.now()
        self.alert = self.alert or Alert("database", "database", MESSAGE, FIX, now, None, None, now)
        is_long = now - self.alert.raised_at >= timedelta(seconds=self.settings.alert_lag)
        if is_long and self.alert.told_at is None and await self.tell(self.alert, "raised"):
            self.alert = msgspec.structs.replace(self.alert, told_at=now)

    async def is_back(self) -> None:
        if self.alert and self.alert.told_at:
            over = msgspec.structs.replace(self.alert, cleared_at=self.now())
            if not await self.tell(over, "cleared"):
                return
        self.alert = None

    async def tell(self, alert: Alert, phase: Phase) -> bool:
        """Whether it was taken; else at the next look."""
        log.error(f"alert {phase}", cause=alert.cause, message=alert.message, fix=alert.fix)
        try:
            if self.receiver:
                await self.receiver.post(id_of(alert, phase), written(alert, phase, self.settings))
        except NotTaken as trouble:
            log.error("an alert was not taken, trying again", cause=alert.cause, why=str(trouble))
            return False
        return True
