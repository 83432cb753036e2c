"""/previews: how would this prompt be drawn? Asked before it is published, by anybody, within what a day of it may cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from msgspec import Meta, Struct

from glisk.api import bodies, job_shapes, objects, refusal, showing
from glisk.api.access import Door, Visitor
from glisk.api.asking import Asked
from glisk.api.job_shapes import Shape
from glisk.engine.link import Link
from glisk.errors import (
    BadQuery,
    BodyTooLarge,
    DatabaseUnreachable,
    JobMissing,
    OpenJobsFull,
    PreviewsSpent,
    PromptUnusable,
    StorageDown,
    TooOften,
)
from glisk.prompts import prompt_problem
from glisk.repositories.key_repository import Key
from glisk.repositories.previews import EVERYBODY, Allowance, Previews
from glisk.storage.objects import Objects

LARGEST = 16 << 10  # bytes
SOMEBODY = Key(0, "somebody", "user", EVERYBODY, rate=20)  # all who have no key, together
PreviewId = Annotated[UUID, Path(description="As POST /previews gave it.", examples=[job_shapes.JOB_ID])]
HEADERS = {"Cache-Control": "no-store"}
PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture.", "content": {"image/*": {}}},
    **showing.ANSWERS,
}


class Draft(Struct, frozen=True):
    prompt: Annotated[str, Meta(description="a text")]


class Preview(Shape):
    preview_id: UUID
    status: str
    picture: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """`each`: what a picture costs, None if nobody knows; `limit`: what a day of them may cost, for who has no limit of their own."""

    each: Decimal | None
    limit: Decimal


def router(link: Link, stored: Objects, door: Door, terms: Terms) -> APIRouter:
    previews, routes = Previews(link), APIRouter(tags=["previews"], route_class=Asked)

    async def draw(request: Request, response: Response) -> Preview:
        """Draw a prompt, to see it. Whoever knows the preview's id can see it, and nobody else; it is gone some days later."""
        visitor = await door.visitor(request)
        door.paces.take(visitor.key if visitor.key or visitor.is_operator else SOMEBODY)
        draft = await bodies.body_of(request, Draft, LARGEST)
        if problem := prompt_problem(draft.prompt):
            raise PromptUnusable(f"{problem.capitalize()}.")
        response.headers.update(HEADERS)
        made = await previews.order(draft.prompt, allowance(visitor, terms))
        return Preview(preview_id=made.job_id, status="pending")

    async def read(preview_id: PreviewId, response: Response) -> Preview:
        """Whether it is drawn."""
        response.headers.update(HEADERS)
        if (row := await previews.one(preview_id)) is None:
            raise JobMissing
        is_drawn = row["output_r2_key"] is not None and row["finished_at"] is not None
        picture = f"/previews/{preview_id}/picture" if is_drawn else None
        return Preview(preview_id=preview_id, status=row["status"], picture=picture, error=row["error_message"])

    async def picture(preview_id: PreviewId, request: Request) -> Response:
        """What was drawn."""
        row = await previews.one(preview_id)
        if row is None or row["output_r2_key"] is None:
            raise JobMissing
        return await showing.answer(await objects.found(stored, row["output_r2_key"]), request, "operator")

    one = "/previews/{preview_id}"
    wrong = (BadQuery, BodyTooLarge, PromptUnusable, TooOften, OpenJobsFull, PreviewsSpent, DatabaseUnreachable)
    seen = refusal.responses(BadQuery, JobMissing, DatabaseUnreachable, StorageDown)
    described = bodies.described(Draft, example={"prompt": "A fox in the snow"})
    routes.add_api_route(
        "/previews",
        draw,
        methods=["POST"],
        status_code=202,
        openapi_extra=described,
        responses=refusal.responses(*wrong),
    )
    routes.add_api_route(one, read, methods=["GET"], responses=seen)
    routes.add_api_route(
        f"{one}/picture", picture, methods=["GET"], response_class=Response, responses={**PICTURE, **seen}
    )
    return routes


def allowance(visitor: Visitor, terms: Terms) -> Allowance:
    """An operator is bound by the day's budget alone."""
    if visitor.is_operator:
        return Allowance(EVERYBODY, None, terms.each)
    if visitor.key is None or visitor.user_id is None:
        return Allowance(EVERYBODY, terms.limit, terms.each)
    own = visitor.key.daily_limit
    return Allowance(visitor.user_id, terms.limit if own is None else own, terms.each)
