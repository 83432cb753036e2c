"""/jobs…: people ask for work, watch it, and stop it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from glisk.api import bodies, cursors, job_orders, job_shapes, personal, whose
from glisk.api.access import Door, Visitor
from glisk.api.asking import Asked
from glisk.api.events import ALIVE_EVERY_S, RETRY_MS, STILL_THERE, Following, pausing
from glisk.api.job_orders import FORM, Wish
from glisk.api.job_shapes import Job, Jobs, Made
from glisk.api.job_watch import JobWatch
from glisk.api.personal import HEADERS, IdempotencyKey, OfUser, answers
from glisk.engine.workflow import FAILED
from glisk.errors import (
    BadQuery,
    BodyTooLarge,
    ConversationMissing,
    JobMissing,
    KeyRefused,
    KeyReused,
    NotTheirs,
    OpenJobsFull,
    StreamsFull,
    WrongMoment,
)
from glisk.repositories import requests
from glisk.repositories.job_board import JobBoard
from glisk.repositories.job_repository import FIRST, NewJob
from glisk.repositories.job_view import JobView, Place, Standing, Wanted
from glisk.repositories.own import Own
from glisk.repositories.studio_jobs import Order, StudioJobs
from glisk.workflows import GOOD

MOST, USUAL = 200, 50  # jobs on a page
WORD = r"^[\w-]{1,100}$"
PROMPT = {
    "prompt": {"type": "string", "maxLength": 1000, "description": "What is to be drawn. A language task needs none."}
}
EXAMPLE = {"userId": "anna", "prompt": "a lighthouse in fog", "priority": 3, "webhookUrl": "https://app.example/hook"}
JobId = Annotated[UUID, Path(description="As POST /jobs gave it.", examples=[job_shapes.JOB_ID])]
LEFT_ALONE = """
    SELECT FROM job_dependencies d JOIN jobs p ON p.id = d.parent_id
    WHERE d.child_id = $1 AND d.on_failure = 'fail' AND (p.finished_at IS NULL OR p.status <> ALL ($2::text[]))"""
CONVERSATION = "SELECT FROM conversations WHERE conversation_id = $1 AND user_id = $2"


def router(own: Own, jobs: StudioJobs, watch: JobWatch, door: Door) -> APIRouter:
    desk = Desk(own, jobs, watch, door, JobView(own))
    routes = APIRouter(tags=["jobs"], route_class=Asked)
    mount_making(routes, desk)
    mount_reading(routes, desk)
    mount_actions(routes, desk)
    mount_watching(routes, desk)
    return routes


def mount_making(routes: APIRouter, desk: Desk) -> None:
    async def make(
        request: Request,
        response: Response,
        idempotency_key: IdempotencyKey = None,
    ) -> Made:
        """Ask for a picture, tags or a text. The answer comes at once; the work begins as soon as somebody is free."""
        response.headers.update(HEADERS)
        return await desk.make(request, idempotency_key)

    described = bodies.described(Wish, FORM, example=EXAMPLE, beside=PROMPT)
    for path in ("/jobs", "/jobsRedis"):
        routes.add_api_route(
            path,
            make,
            methods=["POST"],
            status_code=201,
            openapi_extra=described,
            responses=answers(*MAKING),
            operation_id=f"{path[1:]}_make",
        )


def mount_reading(routes: APIRouter, desk: Desk) -> None:
    async def every(
        request: Request,
        response: Response,
        user: OfUser = None,
        status: Annotated[
            str | None, Query(pattern=WORD, description="In which state, as `status` of a job shows it.")
        ] = None,
        name: Annotated[
            str | None, Query(pattern=WORD, description="Of which kind; `webhook`: those that tell of others' ends.")
        ] = None,
        cursor: Annotated[str | None, Query(max_length=100, description="`next` of the page before.")] = None,
        limit: Annotated[int, Query(ge=1, le=MOST, description="How many at most.")] = USUAL,
    ) -> Jobs:
        """The newest first, page after page."""
        response.headers.update(HEADERS)
        visitor = await desk.door.person(request)
        of = whose.looking_at(visitor, user)
        below = None if cursor is None else place_in(cursor)
        return await desk.page(visitor, Wanted(limit + 1, of, status, name, below))

    async def one(request: Request, response: Response, job_id: JobId) -> Job:
        """How it stands."""
        response.headers.update(HEADERS)
        return job_shapes.shown((await desk.found(request, job_id))[1])

    routes.add_api_route("/jobs", every, methods=["GET"], responses=answers(BadQuery, NotTheirs))
    routes.add_api_route("/jobs/{job_id}", one, methods=["GET"], responses=answers(BadQuery, JobMissing))


def mount_actions(routes: APIRouter, desk: Desk) -> None:
    for verb, act in ACTIONS.items():
        routes.add_api_route(
            f"/jobs/{{job_id}}/{verb}",
            action(desk, act),
            methods=["POST"],
            responses=answers(BadQuery, JobMissing, WrongMoment),
            name=verb,
        )


def mount_watching(routes: APIRouter, desk: Desk) -> None:
    async def events(request: Request, job_id: JobId) -> StreamingResponse:
        """Its status and its progress, at once and whenever they change, until it has ended."""
        _, row = await desk.found(request, job_id)
        return Following(desk.watched(row["id"], partial(desk.door.known, request)))

    routes.add_api_route(
        "/jobs/{job_id}/events",
        events,
        methods=["GET"],
        response_class=StreamingResponse,
        responses={**EVENTS, **answers(BadQuery, JobMissing, StreamsFull)},
    )


MAKING = (BadQuery, BodyTooLarge, NotTheirs, ConversationMissing, JobMissing, KeyReused, OpenJobsFull)
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/event-stream": {"example": 'event: job\ndata: {"status":"processing","progress":40,"error":null}\n\n'}
        },
        "description": "The first tells how it stands now; the stream ends when the job has ended, or is gone.",
    }
}


IsLet = Callable[[], Awaitable[object]]
Act = Callable[["Desk", Visitor, dict[str, Any]], Awaitable[Sequence[int]]]


def action(desk: Desk, act: Act) -> Callable[..., Awaitable[Job]]:
    async def do(request: Request, response: Response, job_id: JobId) -> Job:
        response.headers.update(HEADERS)
        visitor, row = await desk.found(request, job_id)
        if not await act(desk, visitor, row):
            raise WrongMoment(f"It is {row['shown']}.")
        return job_shapes.shown((await desk.found(request, job_id))[1])

    do.__doc__ = act.__doc__
    return do


async def cancel(desk: Desk, visitor: Visitor, row: dict[str, Any]) -> Sequence[int]:
    """End it, whether it waits or is worked on. Those that wait for it fail, unless they said that they would go on."""
    return await desk.board.cancel([row["id"]], visitor.name)


async def pause(desk: Desk, visitor: Visitor, row: dict[str, Any]) -> Sequence[int]:
    """While it waits it is not taken up; one that is worked on goes on to the end of its step."""
    return await desk.board.pause([row["id"]], visitor.name)


async def resume(desk: Desk, visitor: Visitor, row: dict[str, Any]) -> Sequence[int]:
    """What was paused goes on."""
    return await desk.board.resume([row["id"]], visitor.name)


async def retry(desk: Desk, visitor: Visitor, row: dict[str, Any]) -> Sequence[int]:
    """One that has failed goes back to the step it failed at. What has ended well is not done, and paid for, again."""
    if await desk.own.fetch(None, LEFT_ALONE, row["id"], GOOD):
        raise WrongMoment("A job that it waits for has not ended well.", fix="Retry that one first.")
    has_failed = row["status"] == FAILED or row["status"].endswith(f"-{FAILED}")
    return await desk.board.retry([row["id"]], visitor.name) if has_failed and row["delivered_at"] is None else []


ACTIONS: dict[str, Act] = {"cancel": cancel, "pause": pause, "resume": resume, "retry": retry}


@dataclass(frozen=True, slots=True)
class Desk:
    own: Own
    jobs: StudioJobs
    watch: JobWatch
    door: Door
    view: JobView

    @property
    def board(self) -> JobBoard:
        return JobBoard(self.own.link)

    async def make(self, request: Request, key: str | None) -> Made:
        visitor = await self.door.person(request)
        wish, task = await job_orders.wish_in(request)
        user = whose.acting_for(visitor, wish.user_id)
        job = await self.with_parents(visitor, wish, job_orders.job_in(wish, task, user))
        await self.require_conversation(wish, user)
        asked = requests.asked(user, key, [msgspec.to_builtins(wish), task]) if key else None
        made = await personal.made(self.jobs, Order(job, wish.webhook_url, request=asked))
        return Made(job_id=made.job_id, status=FIRST[job.workflow])

    async def with_parents(self, visitor: Visitor, wish: Wish, job: NewJob) -> NewJob:
        named = [*([wish.parent] if wish.parent else []), *wish.parents]
        return replace(job, parents=await self.jobs.parents(visitor.user_id, named)) if named else job

    async def require_conversation(self, wish: Wish, user: str) -> None:
        if wish.conversation_id and not await self.own.fetch(None, CONVERSATION, wish.conversation_id, user):
            raise ConversationMissing

    async def page(self, visitor: Visitor, wanted: Wanted) -> Jobs:
        """`wanted` is one more than they get, to know whether there is one."""
        found = await self.view.page(visitor.user_id, wanted)
        rows, is_last = found[: wanted.limit - 1], len(found) < wanted.limit
        return Jobs(jobs=list(map(job_shapes.shown, rows)), next=None if is_last else cursor_of(rows[-1]))

    async def found(self, request: Request, job_id: UUID) -> tuple[Visitor, dict[str, Any]]:
        visitor = await self.door.person(request)
        row = await self.view.one(visitor.user_id, job_id)
        if row is None:
            raise JobMissing
        return visitor, row

    @asynccontextmanager
    async def watched(self, id: int, is_let: IsLet) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self.watch.watching(id) as standings, aclosing(written(standings, is_let)) as chunks:
            yield chunks


async def written(standings: AsyncIterator[Standing], is_let: IsLet) -> AsyncGenerator[bytes, None]:
    """`is_let` raises once they may not watch any more: their key was revoked."""
    yield f"retry: {RETRY_MS}\n\n".encode()
    async for standing in pausing(standings, ALIVE_EVERY_S):
        try:
            await is_let()
        except KeyRefused:
            return
        yield STILL_THERE if standing is None else b"event: job\ndata: " + msgspec.json.encode(told(standing)) + b"\n\n"


def told(standing: Standing) -> dict[str, Any]:
    return {"status": standing.status, "progress": standing.progress, "error": standing.error}


def cursor_of(row: dict[str, Any]) -> str:
    return cursors.packed(cursors.moment(row["created_at"], row["id"]))


def place_in(cursor: str) -> Place:
    return cursors.unpacked(cursor, read_place, lambda place: cursors.moment(place.created_at, place.id))


def read_place(text: str) -> Place:
    at, key = cursors.moment_in(text)
    if not 0 <= (id := int(key)) < 2**63:
        raise ValueError("no job has this number")
    return Place(at, id)
