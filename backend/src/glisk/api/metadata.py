"""GET /metadata/…: what a revealed token shows, byte for byte as it was pinned; and its prompt, when its author lets it be told."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from dataclasses import dataclass
from hashlib import sha256

from fastapi import APIRouter, Request, Response

from glisk import addresses
from glisk.api.showing import is_known
from glisk.engine.link import Link, LinkLost
from glisk.errors import DatabaseUnreachable, ObjectMissing
from glisk.publishing.canonical import canonical
from glisk.publishing.commitment import commitment
from glisk.publishing.manifest import in_hex
from glisk.publishing.origin import origin_of
from glisk.repositories.metadata_board import Asked, MetadataBoard
from glisk.repositories.token_board import Collection
from glisk.settings import Settings
from glisk.storage.ipfs.cid import parse
from glisk.storage.keys import Key
from glisk.storage.objects import Objects

ANY, ONE = "/metadata/{token_id}", "/metadata/{collection}/{token_id}"
# What was pinned is for ever; that this is what the token shows is true for as long as the reveal stands.
LASTING, PASSING = "public, max-age=300", "no-cache"
TO_COME = "Its picture is being drawn and not revealed yet."


class Refusal(Exception):
    def __init__(self, status: int, message: str, remedy: str) -> None:
        super().__init__(message)
        self.status, self.message, self.remedy = status, message, remedy


def router(link: Link, objects: Objects, settings: Settings, *, reveals: bool) -> APIRouter:
    """`reveals`: tokens are revealed on the chain, and shown after that; else as soon as they are pinned."""
    desk, routes = Desk(MetadataBoard(link), objects, settings, reveals), APIRouter(tags=["metadata"])

    async def read(token_id: str, request: Request) -> Response:
        """The metadata of a token, of the first collection that is followed. `token_id` is in decimal digits."""
        return await answered(desk.document(None, token_id, request))

    async def read_of(collection: str, token_id: str, request: Request) -> Response:
        """The metadata of a token. `collection` is chain:contract."""
        return await answered(desk.document(collection, token_id, request))

    async def prompt(token_id: str) -> Response:
        """The prompt that a token's picture was drawn from, and the salt of its commitment: sha256(salt || prompt)."""
        return await answered(desk.opening(None, token_id))

    async def prompt_of(collection: str, token_id: str) -> Response:
        return await answered(desk.opening(collection, token_id))

    # The prompts first: else one would be taken for the token `prompt` of a collection.
    for path, endpoint in ((f"{ANY}/prompt", prompt), (f"{ONE}/prompt", prompt_of), (ANY, read), (ONE, read_of)):
        routes.add_api_route(path, endpoint, methods=["GET"], response_class=Response)
        routes.add_api_route(path, endpoint, methods=["HEAD"], include_in_schema=False)
    return routes


async def answered(action: Awaitable[Response]) -> Response:
    """For any page, whoever has made it: nothing here is for one visitor alone."""
    try:
        answer = await action
    except Refusal as error:
        answer = as_json(canonical({"message": error.message, "remedy": error.remedy}), "no-store", error.status)
    except LinkLost as error:
        raise DatabaseUnreachable(str(error)) from error
    answer.headers["Access-Control-Allow-Origin"] = "*"
    return answer


@dataclass(frozen=True, slots=True)
class Desk:
    board: MetadataBoard
    objects: Objects
    settings: Settings
    reveals: bool

    async def document(self, collection: str | None, token_id: str, request: Request) -> Response:
        token = await self.asked_for(collection, token_id)
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
        token = await self.asked_for(collection, token_id)
        if not self.is_public(token):
            raise Refusal(404, "It is not revealed yet.", "Ask again when it is.")
        origin = await origin_of(self.board.link.fetch, token.id)
        if (origin.choice or self.settings.prompt_disclosure) != "now":
            raise Refusal(404, "Its prompt is not public.", "Only its author can change that.")
        if origin.prompt is None or (salt := token.prompt_salt) is None:
            raise Refusal(404, "Nobody can tell its prompt any more: no salt of it was kept.", "Nothing can be done.")
        promised = commitment(salt, origin.prompt)
        opened = {"prompt": origin.prompt, "salt": in_hex(salt), "commitment": in_hex(promised)}
        return as_json(canonical(opened), PASSING)

    async def asked_for(self, collection: str | None, token_id: str) -> Asked:
        number, of = number_in(token_id), await self.collection(collection)
        token = await self.board.asked_for(of, number) if of else None
        if token is None:
            raise Refusal(404, "There is no such token.", "Check its id, and its collection if there are several.")
        return token

    async def collection(self, given: str | None) -> Collection | None:
        """The one that is named, else the first that is followed, else the only one there is."""
        if given is not None:
            return collection_in(given)
        chain, contract = next(iter(addresses.contracts_in(self.settings.contracts)), (None, None))
        if chain is not None:
            return Collection(contract, chain)
        found = [each for each in await self.board.collections() if contract in (None, each.contract)]
        if len(found) > 1:
            raise Refusal(404, "There are several collections.", f"Say which: /metadata/{found[0]}/{{token_id}}")
        return found[0] if found else None

    def is_public(self, token: Asked) -> bool:
        return token.status == "revealed" or (token.status == "ready" and not self.reveals)


def number_in(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,78}", text) or int(text) >= 2**256:
        raise Refusal(400, "This is no token id.", "A number from 0 to 2^256 - 1 is wanted, in decimal digits.")
    return int(text)


def collection_in(text: str) -> Collection:
    try:
        chain, contract = addresses.contract_in(text)
    except ValueError:
        chain = None
    if chain is None:
        raise Refusal(400, "This is no collection.", "CHAIN:0x… is wanted: the chain's id and the contract's address.")
    return Collection(contract, chain)


def unchanged(request: Request, tag: str, lasting: str) -> Response | None:
    is_same = is_known(request.headers.get("if-none-match", ""), tag)
    return Response(None, 304, {"ETag": tag, "Cache-Control": lasting}) if is_same else None


def as_json(data: bytes, lasting: str, status: int = 200, **headers: str) -> Response:
    told = {"Cache-Control": lasting, "X-Content-Type-Options": "nosniff", **headers}
    return Response(data, status, told, "application/json")
