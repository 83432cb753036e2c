"""GET /metadata/…: what a revealed token shows, byte for byte as it was pinned; and its prompt, when its author lets it be told."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from fastapi import APIRouter, Request, Response

from glisk.api import refusal
from glisk.api.naming import CollectionName, Names, TokenId
from glisk.api.showing import is_known
from glisk.engine.link import Link
from glisk.errors import BadQuery, DatabaseUnreachable, ObjectMissing, PromptHidden, StorageDown, TokenMissing
from glisk.publishing.canonical import canonical
from glisk.publishing.commitment import commitment
from glisk.publishing.manifest import in_hex
from glisk.publishing.origin import origin_of
from glisk.repositories.metadata_board import Asked, MetadataBoard
from glisk.repositories.public_board import public_statuses
from glisk.settings import Settings
from glisk.storage.ipfs.cid import parse
from glisk.storage.keys import Key
from glisk.storage.objects import Objects

ANY, ONE = "/metadata/{token_id}", "/metadata/{collection}/{token_id}"
# What was pinned is for ever; that this is what the token shows is true for as long as the reveal stands.
LASTING, PASSING = "public, max-age=300", "no-cache"
METADATA = {"name": "Glisk #17", "description": "…", "image": "ipfs://bafybeig…", "attributes": []}
OPENING = {"prompt": "a lighthouse in fog", "salt": "0x77…0c", "commitment": "0x8f…e1"}
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "As it was pinned.", "content": {"application/json": {"example": METADATA}}},
    304: {"description": "You have it already."},
    **refusal.responses(BadQuery, TokenMissing, ObjectMissing, DatabaseUnreachable, StorageDown),
}
OPENED: dict[int | str, dict[str, Any]] = {
    200: {"description": "What was promised, opened.", "content": {"application/json": {"example": OPENING}}},
    **refusal.responses(BadQuery, TokenMissing, PromptHidden, DatabaseUnreachable),
}
TO_COME = "Its picture is being drawn and not revealed yet."


def router(link: Link, objects: Objects, settings: Settings, *, reveals: bool) -> APIRouter:
    """`reveals`: tokens are revealed on the chain, and shown after that; else as soon as they are pinned."""
    desk, routes = Desk(Names(MetadataBoard(link), settings), objects, settings, reveals), APIRouter(tags=["metadata"])

    async def read(token_id: TokenId, request: Request) -> Response:
        """The metadata of a token, of the first collection that is followed. `token_id` is in decimal digits."""
        return await answered(desk.document(None, token_id, request))

    async def read_of(collection: CollectionName, token_id: TokenId, request: Request) -> Response:
        """The metadata of a token. `collection` is chain:contract."""
        return await answered(desk.document(collection, token_id, request))

    async def prompt(token_id: TokenId) -> Response:
        """The prompt that a token's picture was drawn from, and the salt of its commitment: sha256(salt || prompt)."""
        return await answered(desk.opening(None, token_id))

    async def prompt_of(collection: CollectionName, token_id: TokenId) -> Response:
        """The same, of a token of this collection."""
        return await answered(desk.opening(collection, token_id))

    # The prompts first: else one would be taken for the token `prompt` of a collection.
    for path, endpoint in ((f"{ANY}/prompt", prompt), (f"{ONE}/prompt", prompt_of), (ANY, read), (ONE, read_of)):
        answers = ANSWERS if endpoint in (read, read_of) else OPENED
        routes.add_api_route(path, endpoint, methods=["GET"], response_class=Response, responses=answers)
        routes.add_api_route(path, endpoint, methods=["HEAD"], include_in_schema=False)
    return routes


async def answered(action: Awaitable[Response]) -> Response:
    """For any page, whoever has made it: nothing here is for one visitor alone."""
    answer = await action
    answer.headers["Access-Control-Allow-Origin"] = "*"
    return answer


@dataclass(frozen=True, slots=True)
class Desk:
    names: Names
    objects: Objects
    settings: Settings
    reveals: bool

    async def document(self, collection: str | None, token_id: str, request: Request) -> Response:
        token = await self.names.token(collection, token_id)
        if self.is_public(token):
            return await self.shown(token.metadata_cid or "", request)
        data = canonical({"name": f"{self.settings.collection_name} #{token.token_id}", "description": TO_COME})
        tag = f'"{sha256(data).hexdigest()}"'
        return unchanged(request, tag, PASSING) or as_json(data, PASSING, ETag=tag)

    async def shown(self, cid: str, request: Request) -> Response:
        digest = parse(cid).digest.hex()  # of a file that fits one block, this is the hash of the file
        key, tag = Key(digest, "json"), f'"{digest}"'
        if known := unchanged(request, tag, LASTING):
            return known
        if (data := await self.objects.get(str(key))) is None:
            raise ObjectMissing(f"It would be {key}.")
        return as_json(data, LASTING, ETag=tag)

    async def opening(self, collection: str | None, token_id: str) -> Response:
        """Of tokens too that were pinned before their author said so."""
        token = await self.names.token(collection, token_id)
        if not self.is_public(token):
            raise PromptHidden("It is not revealed yet.", fix="Ask again when it is.")
        origin = await origin_of(self.names.board.link.fetch, token.id)
        if (origin.choice or self.settings.prompt_disclosure) != "now":
            raise PromptHidden
        if origin.prompt is None or (salt := token.prompt_salt) is None:
            raise PromptHidden("Nobody can tell it any more: no salt of it was kept.", fix="Nothing can be done.")
        promised = commitment(salt, origin.prompt)
        opened = {"prompt": origin.prompt, "salt": in_hex(salt), "commitment": in_hex(promised)}
        return as_json(canonical(opened), PASSING)

    def is_public(self, token: Asked) -> bool:
        return token.status in public_statuses(reveals=self.reveals)


def unchanged(request: Request, tag: str, lasting: str) -> Response | None:
    is_same = is_known(request.headers.get("if-none-match", ""), tag)
    return Response(None, 304, {"ETag": tag, "Cache-Control": lasting}) if is_same else None


def as_json(data: bytes, lasting: str, status: int = 200, **headers: str) -> Response:
    told = {"Cache-Control": lasting, "X-Content-Type-Options": "nosniff", **headers}
    return Response(data, status, told, "application/json")
