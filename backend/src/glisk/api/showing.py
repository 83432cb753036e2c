"""How something that never changes is shown: whole, in part, or not again to whoever has it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from glisk.api import ranges, refusal
from glisk.api.seeing import FOR_ONE, Sight
from glisk.errors import DatabaseUnreachable, StorageDown
from glisk.storage.objects import Part

ANSWERS: dict[int | str, dict[str, Any]] = {
    206: {"description": "The part that was asked for."},
    304: {"description": "You have it already."},
    416: {"description": "The part that was asked for lies beyond the end."},
    **refusal.responses(StorageDown, DatabaseUnreachable),
}
# Whatever somebody has stored, a browser neither guesses what it is nor runs it in our name.
SAFE = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}


@dataclass(frozen=True, slots=True)
class Shown:
    """`headers` has its ETag. `open` gives all of it, or the part."""

    size: int
    mime: str
    headers: Mapping[str, str]
    open: Callable[[Part | None], Awaitable[AsyncIterator[bytes]]]


async def answer(shown: Shown, request: Request, by: Sight = "everybody") -> Response:
    headers, size = {**shown.headers, **SAFE, **kept_by(by), "Accept-Ranges": "bytes"}, shown.size
    if is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(None, 304, headers)
    if request.method == "HEAD":
        return Response(None, 200, headers | {"Content-Length": str(size), "Content-Type": shown.mime})
    match asked_part(request.headers, headers["ETag"], size):
        case Part() as part:
            told = {"Content-Range": f"bytes {part.start}-{part.stop - 1}/{size}"}
            length = {"Content-Length": str(part.stop - part.start)}
            return await streamed(await shown.open(part), 206, headers | told | length, shown.mime)
        case "beyond the end":
            return Response(None, 416, headers | {"Content-Range": f"bytes */{size}"})
        case "whole":
            return await streamed(await shown.open(None), 200, headers | {"Content-Length": str(size)}, shown.mime)


async def streamed(
    chunks: AsyncIterator[bytes], status: int, headers: Mapping[str, str], mime: str
) -> StreamingResponse:
    return StreamingResponse(await begun(chunks), status, headers, mime)


async def begun(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The first chunk is here before the answer starts, so that a storage in trouble, or damage, is told by the status."""
    return going_on(await anext(chunks, b""), chunks)


async def going_on(first: bytes, others: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in others:
        yield chunk


def kept_by(by: Sight) -> dict[str, str]:
    """What is for one alone is kept by nobody who serves others."""
    return {} if by == "everybody" else {"Cache-Control": FOR_ONE}


def is_known(given: str, tag: str) -> bool:
    tags = [each.strip().removeprefix("W/") for each in given.split(",")]
    return tag in tags or tags == ["*"]


def asked_part(headers: Mapping[str, str], tag: str, size: int) -> ranges.Wanted:
    """Whoever goes on with a download says of what (If-Range); of anything else the rest would not fit."""
    is_same = headers.get("if-range", tag) == tag
    return ranges.wanted(headers.get("range", ""), size) if is_same else "whole"
