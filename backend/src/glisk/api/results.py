"""GET /jobResult: what came of a job, once. Whoever has received it has it; here it is deleted then (seed 004)."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from glisk.api import job_shapes, refusal, showing
from glisk.api.access import Door
from glisk.api.asking import Asked
from glisk.api.connections import Connections
from glisk.api.delivering import Delivered
from glisk.api.job_shapes import decoded
from glisk.api.personal import HEADERS
from glisk.engine.workflow import FAILED
from glisk.errors import (
    BadQuery,
    CrossSite,
    DatabaseUnreachable,
    JobMissing,
    KeyRefused,
    ResultLost,
    StorageDown,
    TooOften,
    UserKeyWanted,
)
from glisk.repositories import deliveries
from glisk.repositories.job_view import JobView
from glisk.repositories.own import Own
from glisk.storage.keys import parsed
from glisk.storage.objects import Objects

READY = "ready"  # of seed 004's own pictures; what other jobs leave is told, and stays
WAITS = "The job is still being worked on: ask again."
DONE, OPEN, LOST = (
    {"status": "completed", "image_data_base64": "iVBORw0KGgo…", "image_type": "image/png"},
    "pending",
    "failed",
)
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "It has ended: with a picture, with a failure, or with what its status says. A picture and a failure are told once.",
        "content": {
            "application/json": {
                "examples": {
                    "completed": {"value": DONE},
                    "failed": {"value": {"status": LOST, "error": "The prompt was refused"}},
                    "other": {"value": {"status": "completed", "result": {"title": "Fog"}}},
                }
            }
        },
    },
    202: {
        "description": "It has not ended yet.",
        "content": {"application/json": {"example": {"status": OPEN, "progress": 40, "message": WAITS}}},
    },
    **refusal.responses(
        *(
            BadQuery,
            JobMissing,
            ResultLost,
            UserKeyWanted,
            KeyRefused,
            CrossSite,
            TooOften,
            DatabaseUnreachable,
            StorageDown,
        )
    ),
}


def router(own: Own, objects: Objects, door: Door, connections: Connections, grace: timedelta) -> APIRouter:
    desk = Desk(own, objects, connections, grace)
    routes = APIRouter(tags=["jobs"], route_class=Asked)

    async def result(
        request: Request,
        job_id: Annotated[
            UUID, Query(alias="jobId", description="As POST /jobs gave it.", examples=[job_shapes.JOB_ID])
        ],
        again: Annotated[bool, Query(description="Also if it was sent before, and did not arrive.")] = False,
    ) -> Response:
        """What came of it. A result that was received whole is deleted some time later; asked for again, it is not there."""
        visitor = await door.person(request)
        row = await JobView(own).one(visitor.user_id, job_id)
        if row is None or (row["delivered_at"] is not None and not again):
            raise JobMissing
        return await desk.answer(row) if request.method == "GET" else head(row)

    routes.add_api_route("/jobResult", result, methods=["GET"], responses=ANSWERS)
    routes.add_api_route("/jobResult", result, methods=["HEAD"], include_in_schema=False)
    return routes


@dataclass(frozen=True, slots=True)
class Desk:
    own: Own
    objects: Objects
    connections: Connections
    grace: timedelta

    async def answer(self, row: dict[str, Any]) -> Response:
        """Seed 004's table of answers."""
        status = row["status"]
        if row["finished_at"] is None:
            return answer(202, {"status": row["shown"], "progress": row["progress"], "message": WAITS})
        if status == FAILED or status.endswith(f"-{FAILED}"):
            return self.once(row, {"status": FAILED, "error": row["error_message"]})
        if status == READY and row["output_r2_key"]:
            return await self.picture(row)
        if status == READY:
            await self.deliver(row["id"])
            raise ResultLost
        return answer(200, {"status": status, "result": decoded(row["result"])})

    async def picture(self, row: dict[str, Any]) -> Response:
        name, key = parsed(row["output_r2_key"]), row["output_r2_key"]
        size, chunks = await self.objects.size(key), await self.objects.open(key)
        if size is None or chunks is None:
            await self.deliver(row["id"])
            raise JobMissing("Its picture is gone.")
        head = msgspec.json.encode({"status": "completed", "image_type": name.mime})[:-1] + b',"image_data_base64":"'
        length = len(head) + 4 * -(-size // 3) + 2
        return self.delivered(row, wrapped(head, await showing.begun(chunks)), length)

    def once(self, row: dict[str, Any], told: dict[str, Any]) -> Response:
        body = msgspec.json.encode(told)
        return self.delivered(row, single(body), len(body))

    def delivered(self, row: dict[str, Any], chunks: AsyncIterator[bytes], length: int) -> Response:
        headers = {**HEADERS, "Content-Length": str(length)}
        return Delivered(chunks, headers, Handing(self, row["id"]), self.connections)

    async def deliver(self, id: int) -> None:
        await deliveries.deliver(self.own.link, id, self.grace)


@dataclass(frozen=True, slots=True)
class Handing:
    """One job's result, on its way."""

    desk: Desk
    id: int

    async def begin(self) -> None:
        await deliveries.dispatch(self.desk.own.link, self.id)

    async def end(self, *, is_whole: bool) -> None:
        if is_whole:
            await self.desk.deliver(self.id)
        else:
            await deliveries.give_back(self.desk.own.link, self.id)

    async def undo(self) -> None:
        await deliveries.undo(self.desk.own.link, self.id)


def head(row: dict[str, Any]) -> Response:
    """Whether there is something to fetch. Nothing is delivered by that."""
    return Response(None, 202 if row["finished_at"] is None else 200, HEADERS)


def answer(status: int, told: dict[str, Any]) -> Response:
    return JSONResponse(told, status, HEADERS)


async def wrapped(head: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Base64, three bytes at a time, so that the parts can be put together."""
    yield head
    rest = b""
    async for chunk in chunks:
        rest += chunk
        whole = len(rest) - len(rest) % 3
        yield base64.b64encode(rest[:whole])
        rest = rest[whole:]
    yield base64.b64encode(rest) + b'"}'


async def single(body: bytes) -> AsyncIterator[bytes]:
    yield body
