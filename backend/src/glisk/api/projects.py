"""/projects and /generate-image: people bring a picture, say what is to be changed, and watch it (seed 002)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeAlias
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from glisk.api import bodies, cursors, edits, forms, project_shapes, whose
from glisk.api.asking import Asked
from glisk.api.edits import Wish
from glisk.api.events import Following
from glisk.api.personal import HEADERS, IdempotencyKey, OfUser, answers
from glisk.api.project_desk import FILE, Desk, NewProject
from glisk.api.project_shapes import Editing, Projects
from glisk.api.project_watch import ProjectWatch
from glisk.errors import (
    BadQuery,
    BodyTooLarge,
    KeyReused,
    NotTheirs,
    OpenJobsFull,
    ProjectMissing,
    StorageDown,
    StreamsFull,
)
from glisk.repositories import removing
from glisk.repositories.project_repository import Place, Project

MOST, USUAL = 200, 50  # projects on a page
ALL, ONE = "/projects", "/projects/{project_id}"
Show: TypeAlias = Callable[[Project], project_shapes.Project]
ProjectId = Annotated[UUID, Path(description="As POST /projects gave it.", examples=[project_shapes.PROJECT_ID])]
NEW = {"originalImageUrl": "data:image/png;base64,iVBORw0KGgo…", "projectType": "existing"}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/event-stream": {
                "example": 'id: 9f2b1c0d4e5f6a7b\nevent: project\ndata: {"projectId":"6f1c…","status":"processing",…}\n\n'
            }
        },
        "description": "The project as GET shows it, now and whenever it changes; who comes back with the id of the last one they "
        "had is told only if it has changed. `deleted` is the last.",
    }
}


def router(desk: Desk, watch: ProjectWatch) -> APIRouter:
    routes = APIRouter(tags=["projects"], route_class=Asked)
    show = partial(project_shapes.shown, address=desk.settings.address)
    mount_making(routes, desk, show)
    mount_reading(routes, desk, show)
    mount_removing(routes, desk)
    mount_watching(routes, desk, watch)
    mount_editing(routes, desk)
    return routes


def mount_making(routes: APIRouter, desk: Desk, show: Show) -> None:
    async def make(request: Request, response: Response) -> project_shapes.Project:
        """A picture to work on: written out, at an address, or as a file."""
        response.headers.update(HEADERS)
        project_id = await desk.make(request)
        return show((await desk.projects.some([project_id]))[0] or missing())

    routes.add_api_route(ALL, make, methods=["POST"], status_code=201, openapi_extra=described(), responses=MAKING)


def mount_reading(routes: APIRouter, desk: Desk, show: Show) -> None:
    async def every(
        request: Request,
        response: Response,
        user: OfUser = None,
        cursor: Annotated[str | None, Query(max_length=100, description="`next` of the page before.")] = None,
        limit: Annotated[int, Query(ge=1, le=MOST, description="How many at most.")] = USUAL,
    ) -> Projects:
        """The newest first, page after page."""
        response.headers.update(HEADERS)
        visitor = await desk.door.person(request)
        of = whose.looking_at(visitor, user)
        below = None if cursor is None else place_in(cursor)
        found = await desk.projects.page(visitor.user_id, of, below, limit + 1)
        following = cursor_of(found[limit - 1]) if len(found) > limit else None
        return Projects(projects=[show(each) for each in found[:limit]], next=following)

    async def one(request: Request, response: Response, project_id: ProjectId) -> project_shapes.Project:
        """How it stands, with the pictures that came of it, or why its latest edit failed."""
        response.headers.update(HEADERS)
        return show((await desk.found(request, project_id))[1])

    routes.add_api_route(ALL, every, methods=["GET"], responses=answers(BadQuery, NotTheirs))
    routes.add_api_route(ONE, one, methods=["GET"], responses=answers(BadQuery, ProjectMissing))


def mount_removing(routes: APIRouter, desk: Desk) -> None:
    async def remove(request: Request, project_id: ProjectId) -> Response:
        """With its edits; one that is worked on is stopped."""
        visitor, project = await desk.found(request, project_id)
        await removing.remove(desk.projects.own.link, "project", project.project_id, visitor.name)
        return Response(status_code=204, headers=HEADERS)

    routes.add_api_route(ONE, remove, methods=["DELETE"], status_code=204, responses=answers(BadQuery, ProjectMissing))


def mount_watching(routes: APIRouter, desk: Desk, watch: ProjectWatch) -> None:
    async def events(
        request: Request,
        project_id: ProjectId,
        last_event_id: Annotated[str | None, Header(include_in_schema=False)] = None,
    ) -> StreamingResponse:
        """The project, now and whenever it changes."""
        await desk.found(request, project_id)
        return Following(watch.watched(project_id, last_event_id, partial(desk.door.person, request)))

    routes.add_api_route(
        f"{ONE}/events",
        events,
        methods=["GET"],
        response_class=StreamingResponse,
        responses={**EVENTS, **answers(BadQuery, ProjectMissing, StreamsFull)},
    )


def mount_editing(routes: APIRouter, desk: Desk) -> None:
    async def edit(
        request: Request,
        response: Response,
        idempotency_key: IdempotencyKey = None,
    ) -> Editing:
        """Change a project's picture. The answer comes at once; watch the project, or the job, for what comes of it."""
        response.headers.update(HEADERS)
        return Editing(job_id=await desk.edit(request, idempotency_key))

    routes.add_api_route(
        "/generate-image",
        edit,
        methods=["POST"],
        status_code=202,
        openapi_extra=bodies.described(Wish, example=edits.EXAMPLE),
        responses=answers(BadQuery, BodyTooLarge, ProjectMissing, KeyReused, OpenJobsFull, StorageDown),
    )


MAKING = answers(BadQuery, BodyTooLarge, NotTheirs, StorageDown)


def described() -> dict[str, Any]:
    """JSON; or a form, with the picture as a file."""
    told = bodies.described(NewProject, example=NEW)
    content = told["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    file = {FILE: {"type": "string", "format": "binary", "description": "The picture, in place of originalImageUrl."}}
    content[forms.FORM] = {"schema": schema | {"properties": schema["properties"] | file}}
    return told


def missing() -> Project:
    """Somebody was quick."""
    raise ProjectMissing


def cursor_of(project: Project | Place) -> str:
    return cursors.packed(text_of(project))


def place_in(cursor: str) -> Place:
    return cursors.unpacked(cursor, read_place, text_of)


def text_of(project: Project | Place) -> str:
    return cursors.moment(project.created_at, project.project_id)


def read_place(text: str) -> Place:
    at, key = cursors.moment_in(text)
    return Place(at, UUID(key))
