"""GET /tokens…: tokens for programs, with a page's cursor and each token's story."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from glisk import addresses
from glisk.api import cursors, refusal, token_shapes
from glisk.api.access import Door
from glisk.api.asking import Asked
from glisk.api.naming import Names, TokenId, collection_in, number_in
from glisk.api.token_shapes import Timeline, Token, Tokens
from glisk.engine.link import Link
from glisk.errors import BadQuery, DatabaseUnreachable, GliskError, TokenMissing
from glisk.repositories.metadata_board import MetadataBoard
from glisk.repositories.public_board import public_statuses
from glisk.repositories.timeline import story
from glisk.repositories.token_pages import Listed, TokenPages, Wanted
from glisk.settings import Settings
from glisk.workflows import TOKEN

MOST, USUAL = 200, 50  # tokens on a page
LAST_ID = 2**63
STATUSES = sorted(TOKEN.statuses())
CONTRACT = Query(
    description="The collection, CHAIN:0x…. Of one token: else the first that is followed.",
    examples=[token_shapes.COLLECTION],
)
# What is told depends on who asks.
HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}


def router(link: Link, settings: Settings, door: Door) -> APIRouter:
    desk = Desk(link, door, Names(MetadataBoard(link), settings), public_statuses(reveals=settings.reveals))
    routes = APIRouter(tags=["tokens"], route_class=Asked)

    async def every(
        request: Request,
        response: Response,
        status: Annotated[str | None, Query(description=f"One of {', '.join(STATUSES)}.")] = None,
        author: Annotated[str | None, Query(description="A wallet, 0x….")] = None,
        contract: Annotated[str | None, CONTRACT] = None,
        cursor: Annotated[str | None, Query(description="`next` of the page before.")] = None,
        limit: Annotated[int, Query(ge=1, le=MOST, description="How many at most.")] = USUAL,
    ) -> Tokens:
        """The newest first, page after page: what is minted meanwhile moves nothing."""
        response.headers.update(HEADERS)
        of = None if contract is None else collection_in(contract)
        below = None if cursor is None else id_in(cursor)
        return await desk.page(request, Wanted(limit + 1, status_in(status), wallet_in(author), of, below))

    async def one(
        request: Request, response: Response, token_id: TokenId, contract: Annotated[str | None, CONTRACT] = None
    ) -> Token:
        """One token. Its picture is there from its reveal on; the operator sees it before."""
        response.headers.update(HEADERS)
        return await desk.one(request, contract, token_id)

    async def timeline(
        request: Request, response: Response, token_id: TokenId, contract: Annotated[str | None, CONTRACT] = None
    ) -> Timeline:
        """What happened to a token, every attempt; the operator also sees what it cost, who did it and what went wrong."""
        response.headers.update(HEADERS)
        return await desk.timeline(request, contract, token_id)

    add(routes, "/tokens", every, BadQuery, DatabaseUnreachable)
    add(routes, "/tokens/{token_id}", one, BadQuery, TokenMissing, DatabaseUnreachable)
    add(routes, "/tokens/{token_id}/timeline", timeline, BadQuery, TokenMissing, DatabaseUnreachable)
    return routes


@dataclass(frozen=True, slots=True)
class Desk:
    link: Link
    door: Door
    names: Names
    public: list[str]  # the statuses in which a token is public

    async def page(self, request: Request, wanted: Wanted) -> Tokens:
        """`wanted` is one more than they get, to know whether there is one."""
        is_operator = (await self.door.visitor(request)).is_operator
        wanted = wanted if is_operator else without_orphans(wanted)
        found = await TokenPages(self.link).page(wanted)
        shown, is_last = found[: wanted.limit - 1], len(found) < wanted.limit
        tokens = [self.shown(token, is_operator=is_operator) for token in shown]
        return Tokens(tokens=tokens, next=None if is_last else cursor_of(shown[-1].id))

    async def one(self, request: Request, contract: str | None, token_id: str) -> Token:
        token, is_operator = await self.named(request, contract, token_id)
        return self.shown(token, is_operator=is_operator)

    async def timeline(self, request: Request, contract: str | None, token_id: str) -> Timeline:
        token, is_operator = await self.named(request, contract, token_id)
        return token_shapes.told(token, await story(self.link, token.id), is_operator=is_operator)

    async def named(self, request: Request, contract: str | None, token_id: str) -> tuple[Listed, bool]:
        """A mint that has left the chain is a token to nobody but the operator."""
        number, of = number_in(token_id), await self.names.collection(contract)
        is_operator = (await self.door.visitor(request)).is_operator
        token = await TokenPages(self.link).named(of, number) if of else None
        if token is None or (token.status == "orphaned" and not is_operator):
            raise TokenMissing
        return token, is_operator

    def shown(self, token: Listed, *, is_operator: bool) -> Token:
        return token_shapes.shown(token, is_public=token.status in self.public, is_operator=is_operator)


def add(routes: APIRouter, path: str, endpoint: Callable[..., Awaitable[object]], *errors: type[GliskError]) -> None:
    routes.add_api_route(path, endpoint, methods=["GET"], responses=refusal.responses(*errors))


def without_orphans(wanted: Wanted) -> Wanted:
    return Wanted(wanted.limit, wanted.status, wanted.author, wanted.of, wanted.below, orphans=False)


def status_in(text: str | None) -> str | None:
    if text is not None and text not in STATUSES:
        raise BadQuery("status: this is none.", fix=f"One of these is wanted: {', '.join(STATUSES)}.")
    return text


def wallet_in(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        chain, wallet = addresses.contract_in(text)
    except ValueError as error:
        raise BadQuery("author: this is no wallet.", fix="0x and 40 hex digits are wanted.") from error
    if chain is not None:
        raise BadQuery("author: this is no wallet.", fix="0x and 40 hex digits are wanted, without a chain.")
    return wallet


def cursor_of(id: int) -> str:
    return cursors.packed(str(id))


def id_in(cursor: str) -> int:
    return cursors.unpacked(cursor, read_id, str)


def read_id(text: str) -> int:
    if not 0 <= (id := int(text)) < LAST_ID:
        raise ValueError("no token has this number")
    return id
