"""Tells the operator of trouble: once when it has come to stay, and once when it is over.

A message that was sent, and not noted as sent because we ended in between, is sent again; none is left out.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Literal

import structlog

from glisk.engine.link import Link
from glisk.repositories.alert_board import Alert, AlertBoard
from glisk.repositories.outbox_board import OutboxBoard
from glisk.repositories.pipeline_board import STEPS
from glisk.settings import Settings
from glisk.telling.causes import SOON, causes, patience
from glisk.telling.posting import NotTaken, Receiver

log = structlog.get_logger()

MOST = 1000  # rows that are looked at for one cause
CALM = timedelta(seconds=10)  # so long it must be over before that is told: what comes and goes is one cause
FIRST_REST_S, LONGEST_REST_S = 2.0, 60.0
LONGEST_CONTENT = 2000  # characters, as Discord takes them
Phase = Literal["raised", "cleared"]


@dataclass(slots=True)
class Alerts:
    """`receiver` None: what is to be told is in the log and in the table alone."""

    link: Link
    settings: Settings
    receiver: Receiver | None
    rest_s: float = 0.0
    tries_at: float = 0.0
    board: AlertBoard = field(init=False)

    def __post_init__(self) -> None:
        self.board = AlertBoard(self.link)

    async def run(self) -> None:
        """One look, unless somebody else is at it."""
        turns = OutboxBoard(self.link)
        if not await turns.take_turn("alerts"):
            return
        try:
            await self.look()
        finally:
            await turns.end_turn("alerts")

    async def look(self) -> None:
        seen = await self.board.snapshot(steps(self.settings), MOST)
        waits = patience(self.settings)
        for alert in await self.board.note(causes(seen, self.settings), waits):
            if alert.told_at is None and alert.now - alert.raised_at >= waits.get(alert.kind, SOON):
                await self.tell(alert, "raised")
            elif alert.told_at and alert.cleared_at and alert.now - alert.cleared_at >= CALM:
                await self.tell(alert, "cleared")

    async def tell(self, alert: Alert, phase: Phase) -> None:
        """A receiver that does not take them is left alone for a while; then it gets all that has not been told."""
        if asyncio.get_running_loop().time() < self.tries_at:
            return
        try:
            if self.receiver:
                await self.receiver.post(id_of(alert, phase), written(alert, phase, self.settings))
        except NotTaken as trouble:
            self.rest_s = min(max(2 * self.rest_s, FIRST_REST_S), LONGEST_REST_S)
            self.tries_at = asyncio.get_running_loop().time() + self.rest_s
            log.error(
                "an alert was not taken, trying again", cause=alert.cause, message=alert.message, why=str(trouble)
            )
            return
        self.rest_s = 0.0
        say = log.warning if phase == "raised" else log.info
        say(f"alert {phase}", cause=alert.cause, message=alert.message, fix=alert.fix)
        await (self.board.was_told(alert) if phase == "raised" else self.board.forget(alert))


def steps(settings: Settings) -> dict[str, str]:
    """Of tokens: each waiting state with the active one. Where nothing is revealed, pinned tokens have arrived."""
    return {waiting: active for waiting, active in STEPS.items() if settings.reveals or waiting != "ready"}


def written(alert: Alert, phase: Phase, settings: Settings) -> dict[str, Any]:
    return for_discord(alert, phase) if settings.is_discord else as_json(alert, phase)


def as_json(alert: Alert, phase: Phase) -> dict[str, Any]:
    at: datetime | None = alert.raised_at if phase == "raised" else alert.cleared_at
    about = {"cause": alert.cause, "kind": alert.kind, "message": alert.message, "fix": alert.fix}
    return {"type": f"alert.{phase}", "timestamp": at, "data": about | {"since": alert.raised_at}}


def for_discord(alert: Alert, phase: Phase) -> dict[str, Any]:
    """Nobody is called by name, whatever stands in a message."""
    said = f"🔴 {alert.message}\n→ {alert.fix}" if phase == "raised" else f"🟢 Over: {alert.message}"
    content = said if len(said) <= LONGEST_CONTENT else f"{said[: LONGEST_CONTENT - 1]}…"
    return {"content": content, "allowed_mentions": {"parse": []}}


def id_of(alert: Alert, phase: Phase) -> str:
    """The same whenever it is sent again, and another for the next time that this happens."""
    return f"alert_{sha256(f'{alert.cause} {alert.raised_at.isoformat()} {phase}'.encode()).hexdigest()[:32]}"
