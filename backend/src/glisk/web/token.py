"""/t/{token}: one token, its picture and where it comes from; for the operator everything that happened to it, and what can be done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Form, Request, Response

from glisk.api import naming
from glisk.errors import TokenMissing
from glisk.publishing.origin import Origin, origin_of
from glisk.repositories.gallery_board import GalleryBoard
from glisk.repositories.timeline import Story, story
from glisk.repositories.token_board import Outcome, Seen, TokenBoard
from glisk.repositories.token_view import TokenView
from glisk.web import gallery, places
from glisk.web.choices import Step, Verb, choices, said
from glisk.web.site import Site
from glisk.web.strip import strip

ONE, ONE_OF = "/t/{token_id}", "/t/{collection}/{token_id}"


@dataclass(frozen=True, slots=True)
class Desk:
    site: Site

    async def page(self, request: Request, collection: str | None, token_id: str) -> Response:
        visitor = await self.site.door.visitor(request)
        after = await self.site.stream.now()
        token = await self.found(collection, token_id)
        view = await TokenView(self.site.link).of(token.id)
        is_public = token.status in GalleryBoard(self.site.link, reveals=self.site.settings.reveals).shown
        origin = await origin_of(self.site.link.fetch, token.id)
        told = await story(self.site.link, token.id)
        return await self.site.page(
            request,
            "token.html",
            visitor=visitor,
            after=after,
            token=token,
            view=view,
            place=await self.place(token),
            is_shown=is_public or (visitor.is_operator and view.image_key is not None),
            is_public=is_public,
            origin=origin if is_public or visitor.is_operator else None,
            prompt=self.prompt(origin, is_public=is_public, is_operator=visitor.is_operator),
            tint=int(token.token_id) % gallery.TINTS,
            **(self.insight(token, told) if visitor.is_operator else {"story": None, "strip": None, "choices": []}),
        )

    def insight(self, token: Seen, told: Story) -> dict[str, Any]:
        return {"story": told, "strip": strip(told), "choices": choices(token)}

    def prompt(self, origin: Origin, *, is_public: bool, is_operator: bool) -> str | None:
        is_told = is_public and (origin.choice or self.site.settings.prompt_disclosure) == "now"
        return origin.prompt if is_operator or is_told else None

    async def act(
        self, request: Request, collection: str | None, token_id: str, verb: Verb, epoch: int, step: Step
    ) -> Response:
        """On the token as the person saw it."""
        visitor = await self.site.door.operator(request)
        token = msgspec.structs.replace(await self.found(collection, token_id), epoch=epoch)
        outcome = await deeds(TokenBoard(self.site.link), visitor.name, step)[verb]([token])
        return self.site.back(await self.place(token), said(verb, token, outcome))

    async def found(self, collection: str | None, token_id: str) -> Seen:
        """An orphan too: what has happened to it can be looked at."""
        number, named = naming.number_in(token_id), await places.names(self.site).collection(collection)
        tokens = await TokenBoard(self.site.link).named([str(number)], named) if named else []
        if not tokens:
            raise TokenMissing
        return tokens[0]

    async def place(self, token: Seen) -> str:
        home = await places.home(self.site)
        return home.address(token.chain_id, token.contract_address, token.token_id)


def deeds(board: TokenBoard, actor: str, step: Step) -> dict[Verb, Callable[[list[Seen]], Awaitable[Outcome]]]:
    return {
        "retry": lambda tokens: board.retry(tokens, actor),
        "cancel": lambda tokens: board.cancel(tokens, actor),
        "accept": lambda tokens: board.accept(tokens, actor),
        "reject": lambda tokens: board.reject(tokens, actor),
        "hold": lambda tokens: board.hold(tokens, actor),
        "rerun": lambda tokens: board.rerun(tokens, step, actor),
    }


def mount(routes: APIRouter, site: Site) -> None:
    desk = Desk(site)

    async def show(token_id: str, request: Request) -> Response:
        return await desk.page(request, None, token_id)

    async def show_of(collection: str, token_id: str, request: Request) -> Response:
        return await desk.page(request, collection, token_id)

    async def act(
        request: Request,
        token_id: str,
        verb: Verb,
        epoch: Annotated[int, Form()],
        step: Annotated[Step, Form()] = "generating",
        collection: str | None = None,
    ) -> Response:
        return await desk.act(request, collection, token_id, verb, epoch, step)

    routes.add_api_route(ONE, show, methods=["GET"])
    routes.add_api_route(ONE_OF, show_of, methods=["GET"])
    for path in (ONE, ONE_OF):
        routes.add_api_route(f"{path}/do/{{verb}}", act, methods=["POST"])
