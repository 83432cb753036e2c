"""Tokens as JSON: what everybody may know of one, and what only the operator."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from glisk.repositories.timeline import Entry, Story
from glisk.repositories.token_pages import Listed

COLLECTION = "8453:0x569d0000000000000000000000000000000043a0"
TOKEN: dict[str, Any] = {
    "token_id": "17",
    "collection": COLLECTION,
    "author": "0x12ab00000000000000000000000000000000009f",
    "status": "revealed",
    "minted_at": "2026-01-01T12:00:01.200000Z",
    "updated_at": "2026-01-01T12:00:12.600000Z",
    "mint": {"block": "128", "tx": "0x8f…e1", "log": 3, "minter": "0x12ab00000000000000000000000000000000009f"},
    "picture": {
        "url": "/objects/sha256/ab/abcd….webp",
        "mime": "image/webp",
        "image_cid": "bafybeig…",
        "metadata_cid": "bafkreib…",
        "metadata_url": f"/metadata/{COLLECTION}/17",
    },
    "token_uri": "ipfs://bafkreib…",
    "reveal_tx": "0x77…0c",
}


class Mint(BaseModel):
    """The log that made it."""

    block: str
    tx: str
    log: int
    minter: str | None


class Picture(BaseModel):
    """What was drawn, from its reveal on."""

    url: str
    mime: str | None
    image_cid: str | None
    metadata_cid: str | None
    metadata_url: str | None


class Inside(BaseModel):
    """For the operator alone."""

    id: str = Field(description="The number of its work, as `glisk` and the log have it.")
    prompt: str | None
    prompt_source: str
    attempts: int
    error: str | None


class Token(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": TOKEN})

    token_id: str = Field(description="In decimal digits.")
    collection: str = Field(description="The chain's id and the contract's address.")
    author: str = Field(description="The wallet whose prompt is drawn.")
    status: str
    minted_at: datetime
    updated_at: datetime
    mint: Mint | None = None
    picture: Picture | None = Field(None, description="Nobody but the operator sees it before its reveal.")
    token_uri: str | None = None
    reveal_tx: str | None = None
    inside: Inside | None = Field(None, description="For the operator alone.")


class Tokens(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": {"tokens": [TOKEN], "next": "MTA0Mg"}})

    tokens: list[Token]
    next: str | None = Field(description="The `cursor` of the next page. None: this was the last one.")


class Line(BaseModel):
    """`text`, `code`, what it cost and who did it are for the operator."""

    at: datetime
    step: str
    number: int | None
    verdict: str
    waited_s: float | None
    worked_s: float | None
    text: str | None = None
    code: str | None = None
    cost: Decimal | None = Field(None, description="In dollars.")
    wei: str | None = None
    worker: str | None = None
    receipt: str | None = None
    actor: str | None = None


class Timeline(BaseModel):
    token_id: str
    collection: str
    status: str
    entries: list[Line]
    cost: Decimal | None = Field(None, description="In dollars; for the operator.")
    wei: str | None = Field(None, description="For gas; for the operator.")


def shown(token: Listed, *, is_public: bool, is_operator: bool) -> Token:
    """`is_public`: it is revealed."""
    collection = collection_of(token)
    return Token(
        token_id=token.token_id,
        collection=collection,
        author=token.author,
        status=token.status,
        minted_at=token.detected_at,
        updated_at=token.updated_at,
        mint=mint_of(token),
        picture=picture_of(token, collection) if is_public or is_operator else None,
        token_uri=token.token_uri if is_public or is_operator else None,
        reveal_tx=in_hex(token.reveal_tx) if is_public or is_operator else None,
        inside=inside_of(token) if is_operator else None,
    )


def collection_of(token: Listed) -> str:
    return f"{token.chain_id}:{token.contract_address}"


def mint_of(token: Listed) -> Mint | None:
    if token.mint_block is None or (tx := in_hex(token.mint_tx)) is None or token.mint_log is None:
        return None
    return Mint(block=str(token.mint_block), tx=tx, log=token.mint_log, minter=token.minter)


def picture_of(token: Listed, collection: str) -> Picture | None:
    if token.image_key is None:
        return None
    metadata_url = f"/metadata/{collection}/{token.token_id}" if token.metadata_cid else None
    return Picture(
        url=f"/objects/{token.image_key}",
        mime=token.image_mime,
        image_cid=token.image_cid,
        metadata_cid=token.metadata_cid,
        metadata_url=metadata_url,
    )


def inside_of(token: Listed) -> Inside:
    return Inside(
        id=str(token.id),
        prompt=token.prompt,
        prompt_source=token.prompt_source,
        attempts=token.attempts,
        error=token.error,
    )


def told(token: Listed, story: Story, *, is_operator: bool) -> Timeline:
    paid = {"cost": story.cost, "wei": str(story.wei)} if is_operator else {}
    entries = [line(entry, is_operator=is_operator) for entry in story.entries]
    return Timeline.model_validate(
        {"token_id": token.token_id, "collection": collection_of(token), "status": token.status, "entries": entries}
        | paid
    )


def line(entry: Entry, *, is_operator: bool) -> Line:
    """When it was and how it went is for everybody: texts may tell a prompt, a refusal, or a server of ours."""
    public = Line(
        at=entry.at,
        step=entry.step,
        number=entry.number,
        verdict=entry.verdict,
        waited_s=entry.waited_s,
        worked_s=entry.worked_s,
    )
    if not is_operator:
        return public
    wei = None if entry.wei is None else str(entry.wei)
    names = ("text", "code", "cost", "worker", "receipt", "actor")
    return public.model_copy(update={"wei": wei} | {name: getattr(entry, name) for name in names})


def in_hex(data: bytes | None) -> str | None:
    return None if data is None else f"0x{data.hex()}"
