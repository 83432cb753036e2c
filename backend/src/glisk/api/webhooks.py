"""POST /webhooks/replicate: somebody says that a prediction is done. If it is Replicate, our workers look at once.

The news itself is not believed, only that there is some: the prediction is asked for. So a webhook that comes twice, late,
out of order or never changes nothing but when we look.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

import msgspec
from fastapi import APIRouter, Request, Response

Tell: TypeAlias = Callable[[str], Awaitable[None]]

LARGEST = 2 * 1024 * 1024
TOLERANCE_S = 300.0  # an older one may be a replay


class News(msgspec.Struct):
    id: str


def router(secret: str, tell: Tell, now: Callable[[], float] = time.time) -> APIRouter:
    """`secret` is whsec_…; without one nobody can be told apart, and nobody is let in."""
    routes = APIRouter()

    @routes.post("/webhooks/replicate")
    async def replicate(request: Request) -> Response:
        body = await body_of(request)
        if body is None:
            return Response(status_code=413)
        if not is_signed(secret, request.headers, body, now()):
            return Response(status_code=401)
        try:
            receipt = msgspec.json.decode(body, type=News).id
        except msgspec.MsgspecError:
            return Response(status_code=400)
        if re.fullmatch(r"[\w-]{1,100}", receipt):
            await tell(receipt)
        return Response(status_code=204)

    return routes


async def body_of(request: Request) -> bytes | None:
    """None: too large to be one."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            return None
    return bytes(body)


def is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """As Standard Webhooks has it: an HMAC over id, time and body; several signatures while a secret is changed."""
    id, at, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    key = decoded(secret.removeprefix("whsec_"))
    if not key or not re.fullmatch(r"\d{1,12}", at) or abs(now - int(at)) > TOLERANCE_S:
        return False
    expected = hmac.digest(key, f"{id}.{at}.".encode() + body, hashlib.sha256)
    return any(hmac.compare_digest(expected, decoded(one)) for one in signatures.split() if one.startswith("v1,"))


def decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text.removeprefix("v1,"), validate=True)
    except (binascii.Error, ValueError):
        return b""
