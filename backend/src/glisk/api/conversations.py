"""/conversations and /users: to whom LLM jobs belong (seed 001). What is removed takes its jobs along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from msgspec import Meta, Struct
from pydantic import BaseModel, ConfigDict, Field

from glisk.api import bodies, job_shapes, whose
from glisk.api.access import Door, Visitor
from glisk.api.asking import Asked
from glisk.api.job_shapes import Job, Shape
from glisk.api.personal import HEADERS, OfUser, answers
from glisk.errors import (
    BadQuery,
    BodyTooLarge,
    ConversationMissing,
    ConversationTaken,
    KeyWanted,
    NotTheirs,
    UserMissing,
)
from glisk.repositories import removing
from glisk.repositories.conversation_repository import Conversation, ConversationRepository, Type
from glisk.repositories.own import Own

LARGEST = 64 * 1024
LONGEST, MOST, USUAL = 200, 200, 50
ALL, ONE = "/conversations", "/conversations/{conversation_id}"
WANTED = f"1 to {LONGEST} characters that can be seen, without /"
SHOWN: dict[str, Any] = {"conversationId": "c-17", "type": "dm", "userId": "anna"}
ConversationId = Annotated[str, Path(description="As POST /conversations gave it.", examples=["c-17"])]
UserId = Annotated[str, Path(description="Whom.", examples=["anna"])]


class NewConversation(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Without an id it gets one."""

    type: Annotated[Type, Meta(description="dm or project_channel")]
    conversation_id: Annotated[str, Meta(description=WANTED)] | None = None
    user_id: (
        Annotated[str, Meta(description="whose it is: needed with an operator's key, else that of the key")] | None
    ) = None


class Shown(Shape):
    model_config = ConfigDict(json_schema_extra={"example": SHOWN})

    conversation_id: str
    type: Type
    user_id: str


class WithJobs(Shown):
    model_config = ConfigDict(json_schema_extra={"example": SHOWN | {"jobs": [job_shapes.JOB]}})

    jobs: list[Job] = Field(description=f"Its latest {MOST}, the newest first.")


class Conversations(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": {"conversations": [SHOWN], "next": None}})

    conversations: list[Shown]
    next: str | None = Field(description="For ?after=, to see more. None: there are none.")


def router(own: Own, door: Door) -> APIRouter:
    desk, routes = Desk(ConversationRepository(own), door), APIRouter(tags=["conversations"], route_class=Asked)
    mount_making(routes, desk)
    mount_reading(routes, desk)
    mount_removing(routes, desk)
    return routes


def mount_making(routes: APIRouter, desk: Desk) -> None:
    async def make(request: Request, response: Response) -> Shown:
        """Begin one. With the id of one that is just like it, that one is it."""
        response.headers.update(HEADERS)
        return shown(await desk.make(request))

    routes.add_api_route(
        ALL,
        make,
        methods=["POST"],
        status_code=201,
        openapi_extra=bodies.described(NewConversation, example=SHOWN),
        responses=answers(BadQuery, BodyTooLarge, NotTheirs, ConversationTaken),
    )


def mount_reading(routes: APIRouter, desk: Desk) -> None:
    async def every(
        request: Request,
        response: Response,
        user: OfUser = None,
        after: Annotated[str | None, Query(max_length=LONGEST, description="`next` of the page before.")] = None,
        limit: Annotated[int, Query(ge=1, le=MOST, description="How many at most.")] = USUAL,
    ) -> Conversations:
        """By their ids, page after page."""
        response.headers.update(HEADERS)
        visitor = await desk.door.person(request)
        of = whose.looking_at(visitor, user)
        found = await desk.conversations.page(visitor.user_id, of, after and id_in(after, "after"), limit + 1)
        following = found[limit - 1].conversation_id if len(found) > limit else None
        return Conversations(conversations=[shown(each) for each in found[:limit]], next=following)

    async def one(request: Request, response: Response, conversation_id: ConversationId) -> WithJobs:
        """With its jobs."""
        response.headers.update(HEADERS)
        visitor, found = await desk.found(request, conversation_id)
        jobs = await desk.conversations.jobs(visitor.user_id, found.conversation_id, MOST)
        return WithJobs(**shown(found).model_dump(), jobs=[job_shapes.shown(row) for row in jobs])

    routes.add_api_route(ALL, every, methods=["GET"], responses=answers(BadQuery, NotTheirs))
    routes.add_api_route(ONE, one, methods=["GET"], responses=answers(BadQuery, ConversationMissing))


def mount_removing(routes: APIRouter, desk: Desk) -> None:
    link = desk.conversations.own.link

    async def remove(request: Request, conversation_id: ConversationId) -> Response:
        """With its jobs; one that is worked on is stopped."""
        visitor, found = await desk.found(request, conversation_id)
        await removing.remove(link, "conversation", found.conversation_id, visitor.name)
        return Response(status_code=204, headers=HEADERS)

    async def remove_user(request: Request, user_id: UserId) -> Response:
        """With their keys, conversations, projects, files and jobs. For the operator."""
        visitor = await desk.door.person(request)
        if not visitor.is_operator:
            raise KeyWanted
        if not await removing.remove(link, "user", whose.user_in(user_id), visitor.name):
            raise UserMissing
        return Response(status_code=204, headers=HEADERS)

    routes.add_api_route(
        ONE, remove, methods=["DELETE"], status_code=204, responses=answers(BadQuery, ConversationMissing)
    )
    routes.add_api_route(
        "/users/{user_id}",
        remove_user,
        methods=["DELETE"],
        status_code=204,
        responses=answers(BadQuery, KeyWanted, UserMissing),
    )


@dataclass(frozen=True, slots=True)
class Desk:
    conversations: ConversationRepository
    door: Door

    async def make(self, request: Request) -> Conversation:
        visitor = await self.door.person(request)
        given = await bodies.body_of(request, NewConversation, LARGEST)
        id = None if given.conversation_id is None else id_in(given.conversation_id, "conversationId")
        return await self.conversations.make(whose.acting_for(visitor, given.user_id), given.type, id)

    async def found(self, request: Request, id: str) -> tuple[Visitor, Conversation]:
        visitor = await self.door.person(request)
        found = await self.conversations.one(visitor.user_id, id) if id.isprintable() else None
        if found is None:
            raise ConversationMissing
        return visitor, found


def id_in(given: str, field: str) -> str:
    """One that can stand in an address."""
    is_plain = given.isprintable() and "/" not in given and given not in (".", "..") and given.strip() == given
    if not is_plain or not 1 <= len(given) <= LONGEST:
        raise BadQuery(f"{field}: {WANTED} are wanted.")
    return given


def shown(found: Conversation) -> Shown:
    return Shown(conversation_id=found.conversation_id, type=found.type, user_id=found.user_id)
