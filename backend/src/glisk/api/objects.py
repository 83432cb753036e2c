"""GET /objects/{key}: what is stored, from wherever it is stored.

A bucket's bytes pass through us. A redirect to a signed link would save that, but it needs a bucket that browsers can reach,
ends after days while an address must not, and leaves the headers that keep a browser safe to somebody else. A cache in front
of us needs each object once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import StreamingResponse

from glisk.api import refusal, showing
from glisk.api.seeing import MaySee, by_everybody
from glisk.api.showing import Shown
from glisk.errors import ObjectMissing
from glisk.storage.keys import Key, parsed
from glisk.storage.objects import Objects, Part

PATH = "/objects/{key:path}"
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture.", "content": {"image/*": {}}},
    **showing.ANSWERS,
    **refusal.responses(ObjectMissing),
}


def router(objects: Objects, may_see: MaySee = by_everybody) -> APIRouter:
    async def read(
        key: Annotated[str, Path(description="What the object is called: sha256/….")], request: Request
    ) -> Response:
        """An image, by the key of its content. It never changes: keep it for as long as you like."""
        parsed(key)
        if (by := await may_see(request, key)) == "nobody":
            raise ObjectMissing
        return await showing.answer(await found(objects, key), request, by)

    routes = APIRouter(tags=["objects"])
    routes.add_api_route(PATH, read, methods=["GET"], response_class=StreamingResponse, responses={**ANSWERS})
    routes.add_api_route(PATH, read, methods=["HEAD"], include_in_schema=False)
    return routes


async def found(objects: Objects, key: str) -> Shown:
    name = parsed(key)
    size = await objects.size(key)
    if size is None:
        raise ObjectMissing(f"It would be {key}.")

    async def opened(part: Part | None) -> AsyncIterator[bytes]:
        if (chunks := await objects.open(key, part)) is None:
            raise ObjectMissing(f"It was {key} a moment ago.")
        return chunks

    return Shown(size, name.mime, headers_of(name), opened)


def headers_of(name: Key) -> dict[str, str]:
    return {
        "ETag": f'"{name.sha256}"',
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Disposition": f'inline; filename="{name.filename}"',
    }
