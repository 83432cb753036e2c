"""POST /webhooks/…: somebody says that there is news. If it is who we think, our workers or the listener look at once.

The news itself is not believed, only that there is some: the prediction, or the chain, is asked. So a webhook that comes
twice, late, out of order or never changes nothing but when we look.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import msgspec
from fastapi import APIRouter, Request, Response

from glisk.api import refusal
from glisk.api.bodies import bytes_of
from glisk.errors import BodyTooLarge, DatabaseUnreachable

Tell: TypeAlias = Callable[[str], Awaitable[None]]
Wake: TypeAlias = Callable[[], Awaitable[None]]

LARGEST = 2 * 1024 * 1024
TOLERANCE_S = 300.0  # an older one may be a replay


NEWS: dict[str, Any] = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    204: {"description": "It is looked at."},
    400: {"description": "It is signed, and no news."},
    401: {"description": "It is not signed by who it should be."},
    413: {"description": "It is too large to be news."},
    **refusal.responses(DatabaseUnreachable),
}


class News(msgspec.Struct):
    id: str


def replicate(secret: str, tell: Tell, now: Callable[[], float] = time.time) -> APIRouter:
    """A prediction is done: `tell` which. `secret` is whsec_…; without one nobody can be told apart, and nobody is let in."""

    async def hear(body: bytes) -> int:
        try:
            receipt = msgspec.json.decode(body, type=News).id
        except msgspec.MsgspecError:
            return 400
        if re.fullmatch(r"[\w-]{1,100}", receipt):
            await tell(receipt)
        return 204

    return route("replicate", lambda headers, body: is_signed(secret, headers, body, now()), hear)


def alchemy(key: str, wake: Wake) -> APIRouter:
    """Something has happened on the chain: `wake` whoever looks at it. Without a key nobody is let in."""

    async def hear(_: bytes) -> int:
        await wake()
        return 204

    return route("alchemy", lambda headers, body: is_signed_by_alchemy(key, headers, body), hear)


def route(
    sender: str, is_theirs: Callable[[Mapping[str, str], bytes], bool], hear: Callable[[bytes], Awaitable[int]]
) -> APIRouter:
    """Only what is signed is heard."""
    routes = APIRouter(tags=["webhooks"])

    @routes.post(
        f"/webhooks/{sender}",
        operation_id=f"webhook_of_{sender}",
        status_code=204,
        responses=ANSWERS,
        openapi_extra=NEWS,
    )
    async def webhook(request: Request) -> Response:
        """For the provider: what it signs makes Glisk look at once."""
        try:
            body = await bytes_of(request, LARGEST)
        except BodyTooLarge:
            return Response(status_code=413)
        return Response(status_code=await hear(body) if is_theirs(request.headers, body) else 401)

    return routes


def is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """As Standard Webhooks has it: an HMAC over id, time and body; several signatures while a secret is changed."""
    id, at, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    key = decoded(secret.removeprefix("whsec_"))
    if not key or not re.fullmatch(r"\d{1,12}", at) or abs(now - int(at)) > TOLERANCE_S:
        return False
    expected = hmac.digest(key, f"{id}.{at}.".encode() + body, hashlib.sha256)
    return any(hmac.compare_digest(expected, decoded(one)) for one in signatures.split() if one.startswith("v1,"))


def is_signed_by_alchemy(key: str, headers: Mapping[str, str], body: bytes) -> bool:
    """An HMAC over the body, in hex digits. It has no time in it: whoever repeats one makes us look, and no more."""
    given = headers.get("x-alchemy-signature", "").encode()
    expected = hmac.new(key.encode(), body, hashlib.sha256).hexdigest().encode()
    return bool(key) and hmac.compare_digest(expected, given)


def decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text.removeprefix("v1,"), validate=True)
    except (binascii.Error, ValueError):
        return b""
