"""GET /ready and GET /metrics: can this server serve, and how goes the work?

`/ready` is 503 only where this server cannot serve: without its database, or on a schema it does not know. That the chain is
behind or a lane is held is no reason to send visitors elsewhere, where it is the same: `checks` tell of it, and that is all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel, Field

from glisk.api import metrics, refusal
from glisk.api.access import Door
from glisk.db.server import known_revisions
from glisk.engine.link import Link, LinkLost
from glisk.errors import DatabaseUnreachable, KeyRefused, KeyWanted
from glisk.repositories.health_board import HealthBoard, Listener, Numbers
from glisk.settings import Settings

PATIENCE_S = 5.0  # whoever asks whether we are ready does not wait for long
FRESH_S = 5.0  # for so long a reading serves whoever scrapes
METRICS: dict[int | str, dict[str, Any]] = {
    200: {"description": "As docs/metrics.md has them.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    **refusal.responses(KeyWanted, KeyRefused, DatabaseUnreachable),
}
NO_STORE = {"Cache-Control": "no-store"}


class Check(BaseModel):
    """How one part is, for a machine and for a person."""

    state: Literal["ok", "warning", "broken"]
    seen: str


class Readiness(BaseModel):
    """Everything but `status` is for the operator."""

    status: Literal["ready", "not ready"]
    checks: dict[str, Check] | None = Field(
        None,
        description="database, migrations, listener and lanes.",
        examples=[{"lanes": {"state": "warning", "seen": "replicate is held: 401 Unauthorized."}}],
    )


NO_DATABASE = Check(state="warning", seen="Not known while the database does not answer.")
NO_SCHEMA = Check(state="warning", seen="Not known on a schema that is not ours.")


def router(link: Link, settings: Settings, door: Door, clients: Callable[[], int]) -> APIRouter:
    """`link` is its own: what keeps others waiting must not keep this. `clients`: how many follow the events."""
    desk, routes = Desk(HealthBoard(link), settings), APIRouter(tags=["operations"])

    async def ready(request: Request) -> JSONResponse:
        """Whether this server can serve. `checks` also say what is not well elsewhere."""
        found = await desk.readiness()
        shown = found if await is_operator(door, request) else Readiness(status=found.status)
        status = 200 if found.status == "ready" else 503
        return JSONResponse(shown.model_dump(exclude_none=True), status, NO_STORE)

    async def scrape(request: Request) -> Response:
        """For Prometheus, in its text format. Beyond this machine it wants an operator's key, as a bearer token."""
        await door.operator(request)
        data = metrics.exposed(await desk.numbers(), clients())
        return Response(data, 200, NO_STORE, CONTENT_TYPE_PLAIN_0_0_4)

    unready: dict[int | str, dict[str, Any]] = {503: {"model": Readiness, "description": "It cannot serve."}}
    routes.add_api_route("/ready", ready, methods=["GET"], response_model=Readiness, responses=unready)
    routes.add_api_route("/metrics", scrape, methods=["GET"], response_class=Response, responses=METRICS)
    return routes


async def is_operator(door: Door, request: Request) -> bool:
    """Without a database nobody's key can be looked up."""
    try:
        return (await door.visitor(request)).is_operator
    except LinkLost:
        return False


@dataclass
class Desk:
    board: HealthBoard
    settings: Settings
    read: tuple[float, Numbers] | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def readiness(self) -> Readiness:
        try:
            async with asyncio.timeout(PATIENCE_S):
                migrations = migrations_told(await self.board.revision())
                if migrations.state != "ok":
                    return not_ready(Check(state="ok", seen="It answers."), migrations, NO_SCHEMA)
                listener, lanes = await self.listener(), lanes_told(await self.board.lanes())
        except (LinkLost, TimeoutError):
            return not_ready(Check(state="broken", seen="It does not answer."), NO_DATABASE, NO_DATABASE)
        database = Check(state="ok", seen="It answers.")
        checks = {"database": database, "migrations": migrations, "listener": listener, "lanes": lanes}
        return Readiness(status="ready", checks=checks)

    async def listener(self) -> Check:
        found = await self.board.listeners()
        halted = [f"{place(one)} is halted: glisk chain status" for one in found if one.is_halted]
        late = [
            f"{place(one)} was last looked at {one.seconds:.0f} s ago: does glisk listen run?"
            for one in found
            if one.seconds > self.settings.alert_lag and not one.is_halted
        ]
        if halted or late:
            return Check(state="broken" if halted else "warning", seen="; ".join(halted + late))
        behind = max((one.blocks for one in found), default=0)
        return Check(state="ok", seen=f"{behind} blocks behind." if found else "No contract is followed yet.")

    async def numbers(self) -> Numbers | None:
        """None: the database does not answer. Those who scrape at once share a reading."""
        async with self.turn:
            if self.read is None or time.monotonic() - self.read[0] > FRESH_S:
                try:
                    self.read = (time.monotonic(), await self.board.numbers())
                except LinkLost:
                    self.read = None
            return self.read and self.read[1]


def not_ready(database: Check, migrations: Check, others: Check) -> Readiness:
    checks = {"database": database, "migrations": migrations, "listener": others, "lanes": others}
    return Readiness(status="not ready", checks=checks)


def migrations_told(revision: str | None) -> Check:
    head = known_revisions()[-1]
    if revision == head:
        return Check(state="ok", seen=f"At {head}.")
    return Check(state="broken", seen=f"At {revision}, {head} is wanted: glisk migrate")


def lanes_told(lanes: Sequence[Mapping[str, Any]]) -> Check:
    """A lane is there for all servers alike."""
    held = [f"{lane['lane']} is held: {lane['held_reason']}" for lane in lanes if lane["state"] == "held"]
    return Check(state="warning" if held else "ok", seen="; ".join(held) or "None is held.")


def place(one: Listener) -> str:
    return f"{one.chain}:{one.contract}"
