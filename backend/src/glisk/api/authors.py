"""/authors/{wallet}: an author publishes a prompt, by a signature of their wallet. Whoever has that signature may send it to us.

A prompt is not public before a token that was drawn from it is, and then only if its author lets it be told: so nobody but the
operator is shown one here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse
from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from glisk import addresses, prompts
from glisk.api import refusal
from glisk.api.access import Door
from glisk.api.asking import Asked
from glisk.api.bodies import body_of, described
from glisk.authors import signatures, typed_data
from glisk.authors.signatures import Ask
from glisk.authors.typed_data import Prompt
from glisk.engine.link import Link
from glisk.errors import (
    BadQuery,
    BodyTooLarge,
    DatabaseUnreachable,
    GliskError,
    NonceUsed,
    NotFollowed,
    PromptUnusable,
    RpcUnreachable,
    SignatureLate,
    SignatureWrong,
)
from glisk.repositories.author_repository import AuthorRepository, Signed
from glisk.repositories.chain_board import ChainBoard
from glisk.repositories.token_board import Collection
from glisk.settings import Settings

LARGEST = 64 * 1024
HOLDS_FOR = 3600  # seconds
A_CHOICE = "now, later, never or nothing"
A_WHOLE = "a whole number below 10^18"
A_SIGNATURE = f"0x and hex digits, two for each of at most {signatures.LONGEST} bytes,"
SKEW = 60  # by which the clocks of others may be ahead

Choice = Annotated[Literal["", "now", "later", "never"], Meta(description=A_CHOICE)]
Digits = Annotated[str, Meta(pattern=r"\A(0|[1-9][0-9]{0,17})\Z")]
Whole = Annotated[Digits | Annotated[int, Meta(ge=0, lt=10**18)], Meta(description=A_WHOLE)]
Hex = Annotated[
    str, Meta(pattern=r"\A0x([0-9a-fA-F]{2})*\Z", max_length=2 + 2 * signatures.LONGEST, description=A_SIGNATURE)
]
# As they stand in an address.
Wallet = Annotated[str, Path(description="The author's wallet, 0x….", examples=[f"0x12ab{'0' * 34}9f"])]
Signing = Annotated[
    str | None, Query(description="The collection that is signed for, CHAIN:0x…; else the first that is followed.")
]


WALLET, COLLECTION = f"0x12ab{'0' * 34}9f", f"8453:0x569d{'0' * 32}43a0"
AUTHOR = {
    "wallet": WALLET,
    "next_nonce": "3",
    "has_prompt": True,
    "disclosure": "later",
    "published_at": "2026-01-01T12:00:01.200000Z",
    "collection": COLLECTION,
}
PUBLICATION = {"prompt": "A fox", "disclosure": "", "nonce": "3", "deadline": "1767272400", "signature": "0x8f…1b"}


def told(status: int, description: str, example: dict[str, Any], *errors: type[GliskError]) -> dict[int | str, Any]:
    answer = {"description": description, "content": {"application/json": {"example": example}}}
    return {status: answer, **refusal.responses(BadQuery, DatabaseUnreachable, *errors)}


READ = told(200, "What everybody may know.", AUTHOR)
OFFERED = told(
    200,
    "As eth_signTypedData_v4 wants it.",
    {"domain": {}, "types": {}, "primaryType": "…"},
    PromptUnusable,
    NotFollowed,
)
PUBLISHED = told(
    *(201, "It is published.", {"wallet": WALLET, "nonce": "3", "collection": COLLECTION}),
    *(PromptUnusable, NotFollowed, SignatureLate, SignatureWrong, NonceUsed, BodyTooLarge, RpcUnreachable),
)


class Draft(Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be signed. `disclosure` is empty for what was chosen before."""

    prompt: Annotated[str, Meta(description="a text")]
    disclosure: Choice = ""


class Publication(Draft, frozen=True, forbid_unknown_fields=True, kw_only=True):
    nonce: Whole
    deadline: Whole
    signature: Hex


class Shown(Struct, frozen=True):
    """What everybody may know of an author. `prompt` is for the operator."""

    wallet: str
    next_nonce: str
    has_prompt: bool
    disclosure: str
    published_at: datetime | None
    collection: str | None
    prompt: str | UnsetType | None = UNSET


def router(
    link: Link, settings: Settings, door: Door, is_valid_1271: Ask, now: Callable[[], float] = time.time
) -> APIRouter:
    """`is_valid_1271`: asks a wallet that is a contract, on its chain."""
    desk, routes = Desk(link, settings, is_valid_1271, now), APIRouter(tags=["authors"], route_class=Asked)

    async def read(wallet: Wallet, request: Request) -> JSONResponse:
        """What is known of an author: whether a prompt is published, whether prompts are public, the nonce of the next."""
        visitor = await door.visitor(request)
        return await answered(desk.shown(wallet_in(wallet), with_prompt=visitor.is_operator))

    async def offer(
        wallet: Wallet,
        prompt: Annotated[str, Query(description="What is to be drawn.", examples=["A fox"])],
        disclosure: Annotated[
            str, Query(description=f"Whether prompts are public: {A_CHOICE}, for what was chosen before.")
        ] = "",
        contract: Signing = None,
    ) -> JSONResponse:
        """What a wallet is to sign (eth_signTypedData_v4) to publish a prompt. It holds for an hour. A proxy in front of Glisk
        may keep addresses, so a prompt that is not to be known is better sent as a POST."""
        return await answered(desk.document(wallet_in(wallet), prompt, choice_in(disclosure), contract))

    async def offer_in_secret(wallet: Wallet, request: Request, contract: Signing = None) -> JSONResponse:
        """The same, with the prompt in the body."""
        draft = await body_of(request, Draft, LARGEST)
        return await answered(desk.document(wallet_in(wallet), draft.prompt, draft.disclosure, contract))

    async def publish(
        wallet: Wallet,
        request: Request,
        contract: Annotated[str | None, Query(description="CHAIN:0x…, as it was signed for.")] = None,
    ) -> JSONResponse:
        """Publishes a prompt that its author has signed. It is drawn for what is minted from then on."""
        sent = await body_of(request, Publication, LARGEST)
        return await answered(desk.publish(wallet_in(wallet), sent, contract), 201)

    one, typed = "/authors/{wallet}", "/authors/{wallet}/typed-data"
    routes.add_api_route(one, read, methods=["GET"], responses=READ)
    routes.add_api_route(typed, offer, methods=["GET"], responses=OFFERED)
    secret = described(Draft, example={"prompt": "A fox", "disclosure": "later"})
    taken = {**OFFERED, **refusal.responses(BodyTooLarge)}
    routes.add_api_route(typed, offer_in_secret, methods=["POST"], openapi_extra=secret, responses=taken)
    signed = described(Publication, example=PUBLICATION)
    routes.add_api_route(
        f"{one}/prompt", publish, methods=["POST"], status_code=201, openapi_extra=signed, responses=PUBLISHED
    )
    return routes


async def answered(action: Awaitable[Any], status: int = 200) -> JSONResponse:
    return JSONResponse(to_builtins(await action), status, {"Cache-Control": "no-store"})


@dataclass(frozen=True, slots=True)
class Desk:
    link: Link
    settings: Settings
    ask: Ask
    now: Callable[[], float]

    @property
    def authors(self) -> AuthorRepository:
        return AuthorRepository(self.link)

    async def shown(self, wallet: str, *, with_prompt: bool) -> Shown:
        found = await self.authors.standing(wallet)
        collection = next(iter(await self.collections()), None)
        return Shown(
            wallet,
            str(found.nonce + 1),
            found.prompt is not None,
            found.disclosure or self.settings.prompt_disclosure,
            found.published_at,
            str(collection) if collection else None,
            found.prompt if with_prompt else UNSET,
        )

    async def document(self, wallet: str, prompt: str, disclosure: str, contract: str | None) -> dict[str, Any]:
        require_drawable(prompt)
        of, found = await self.collection(contract), await self.authors.standing(wallet)
        deadline = int(self.now()) + HOLDS_FOR
        return typed_data.document(signed_prompt(of, wallet, prompt, disclosure, found.nonce + 1, deadline))

    async def publish(self, wallet: str, sent: Publication, contract: str | None) -> dict[str, Any]:
        """What costs nothing is looked at first. The nonce is looked at again where it is used, with the author locked."""
        require_drawable(sent.prompt)
        nonce, deadline, signature = int(sent.nonce), int(sent.deadline), bytes.fromhex(sent.signature[2:])
        self.require_in_time(deadline)
        of = await self.collection(contract)
        if nonce != (await self.authors.standing(wallet)).nonce + 1:
            raise NonceUsed
        said = signed_prompt(of, wallet, sent.prompt, sent.disclosure, nonce, deadline)
        await signatures.require(said.chain_id, wallet, typed_data.digest(said), signature, self.ask)
        self.require_in_time(deadline)  # asking a wallet may take its time
        kept = Signed(said.chain_id, said.contract, datetime.fromtimestamp(deadline, UTC), signature)
        given = await self.authors.publish(wallet, sent.prompt, nonce, sent.disclosure or None, kept, wallet)
        return {"wallet": wallet, "nonce": str(given), "collection": str(of)}

    def require_in_time(self, deadline: int) -> None:
        if not self.now() <= deadline <= self.now() + HOLDS_FOR + SKEW:
            raise SignatureLate

    async def collection(self, given: str | None) -> Collection:
        """The one that is named, if it is ours: a prompt that was signed for others' collections is not to be used here. Else the
        first that is followed."""
        known = await self.collections()
        if given is None and not known:
            raise NotFollowed
        if given is None:
            return known[0]
        if (of := collection_in(given)) not in known:
            raise BadQuery(f"contract: {of} is not followed here.")
        return of

    async def collections(self) -> list[Collection]:
        named = [Collection(contract, chain) for chain, contract in addresses.contracts_in(self.settings.contracts)]
        read = [Collection(one.address, one.chain_id) for one in await ChainBoard(self.link).followed()]
        placed = [each for each in named if each.chain is not None]
        return list(dict.fromkeys([*placed, *read]))


def signed_prompt(of: Collection, wallet: str, prompt: str, disclosure: str, nonce: int, deadline: int) -> Prompt:
    return Prompt(of.chain or 0, of.contract or "", wallet, prompt, disclosure, nonce, deadline)


def require_drawable(prompt: str) -> None:
    if problem := prompts.prompt_problem(prompt):
        raise PromptUnusable(f"{problem[0].upper()}{problem[1:]}.")


def choice_in(text: str) -> str:
    if text not in typed_data.DISCLOSURES:
        raise BadQuery("disclosure: now, later, never or nothing is wanted.")
    return text


def wallet_in(text: str) -> str:
    if not re.fullmatch(r"0x[0-9a-fA-F]{40}", text):
        raise BadQuery("The wallet: 0x and 40 hex digits are wanted.")
    if not addresses.is_typed_right(text):
        raise BadQuery("The wallet is mistyped: its capitals, which are a checksum, do not fit.")
    return text.lower()


def collection_in(text: str) -> Collection:
    try:
        chain, contract = addresses.contract_in(text)
    except ValueError as error:
        raise BadQuery(f"contract: {error}.") from None
    if chain is None:
        raise BadQuery("contract: CHAIN:0x… is wanted, with the chain's id.")
    return Collection(contract, chain)
