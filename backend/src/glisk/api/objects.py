"""GET /objects/{key}: what is stored, from wherever it is stored.

A bucket's bytes pass through us. A redirect to a signed link would save that, but it needs a bucket that browsers can reach,
ends after days while an address must not, and leaves the headers that keep a browser safe to somebody else. A cache in front
of us needs each object once."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from glisk.api import ranges
from glisk.errors import ObjectMissing
from glisk.storage.keys import Key, parsed
from glisk.storage.objects import Objects, Part

PATH = "/objects/{key:path}"
ANSWERS: dict[int | str, dict[str, str]] = {
    206: {"description": "The part that was asked for."},
    304: {"description": "You have it already."},
    404: {"description": "There is no such object."},
    416: {"description": "The part that was asked for lies beyond the end."},
    503: {"description": "The storage does not answer."},
}


def router(objects: Objects) -> APIRouter:
    async def read(key: str, request: Request) -> Response:
        """An image, by the key of its content. It never changes: keep it for as long as you like."""
        return await answer(objects, key, request)

    routes = APIRouter(tags=["objects"])
    routes.add_api_route(PATH, read, methods=["GET"], response_class=StreamingResponse, responses={**ANSWERS})
    routes.add_api_route(PATH, read, methods=["HEAD"], include_in_schema=False)
    return routes


async def answer(objects: Objects, key: str, request: Request) -> Response:
    name = parsed(key)
    size = await objects.size(key)
    if size is None:
        raise ObjectMissing(f"It would be {key}.")
    headers = headers_of(name)
    if is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(None, 304, headers)
    if request.method == "HEAD":
        return Response(None, 200, headers | {"Content-Length": str(size), "Content-Type": name.mime})
    match asked_part(request.headers, headers["ETag"], size):
        case Part() as part:
            return await partial(objects, name, part, size, headers)
        case "beyond the end":
            return Response(None, 416, headers | {"Content-Range": f"bytes */{size}"})
        case "whole":
            return await streamed(objects, name, None, 200, headers | {"Content-Length": str(size)})


async def partial(objects: Objects, name: Key, part: Part, size: int, headers: dict[str, str]) -> Response:
    span = {
        "Content-Range": f"bytes {part.start}-{part.stop - 1}/{size}",
        "Content-Length": str(part.stop - part.start),
    }
    return await streamed(objects, name, part, 206, headers | span)


async def streamed(
    objects: Objects, name: Key, part: Part | None, status: int, headers: Mapping[str, str]
) -> StreamingResponse:
    """Opened before the first byte of the answer, so that a storage in trouble is told by the status."""
    if (chunks := await objects.open(str(name), part)) is None:
        raise ObjectMissing(f"It was {name} a moment ago.")
    return StreamingResponse(chunks, status, headers, name.mime)


def headers_of(name: Key) -> dict[str, str]:
    return {
        "ETag": f'"{name.sha256}"',
        "Cache-Control": "public, max-age=31536000, immutable",
        "Accept-Ranges": "bytes",
        "Content-Disposition": f'inline; filename="{name.filename}"',
        # Whatever somebody has stored, a browser neither guesses what it is nor runs it in our name.
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }


def is_known(given: str, tag: str) -> bool:
    tags = [each.strip().removeprefix("W/") for each in given.split(",")]
    return tag in tags or tags == ["*"]


def asked_part(headers: Mapping[str, str], tag: str, size: int) -> ranges.Wanted:
    """Whoever goes on with a download says of what (If-Range); of anything else the rest would not fit."""
    is_same = headers.get("if-range", tag) == tag
    return ranges.wanted(headers.get("range", ""), size) if is_same else "whole"
