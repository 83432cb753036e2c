"""GET /static/…: what pages are made of, under the hash of its content, so that browsers may keep it for ever."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request, Response

FOLDER = Path(__file__).parent / "static"
FOR_EVER, ASK_AGAIN = "public, max-age=31536000, immutable", "no-cache"


@dataclass(frozen=True, slots=True)
class Asset:
    mark: str
    mime: str
    data: bytes


@cache
def every() -> Mapping[str, Asset]:
    files = {file.relative_to(FOLDER).as_posix(): file for file in sorted(FOLDER.rglob("*")) if file.is_file()}
    return {name: read(file) for name, file in files.items()}


def read(file: Path) -> Asset:
    data = file.read_bytes()
    mime = mimetypes.guess_type(file.name)[0] or "text/plain"
    return Asset(sha256(data).hexdigest()[:12], mime, data)


def address(name: str) -> str:
    return f"/static/{every()[name].mark}/{name}"


def mount(routes: APIRouter) -> None:
    routes.add_api_route("/static/{mark}/{name:path}", show, methods=["GET", "HEAD"], include_in_schema=False)


async def show(mark: str, name: str, request: Request) -> Response:
    """An old page may ask for an older one: it gets what there is, and does not keep it."""
    if (found := every().get(name)) is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    headers = {
        "Cache-Control": FOR_EVER if mark == found.mark else ASK_AGAIN,
        "ETag": f'"{found.mark}"',
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(None, 304, headers)
    return Response(found.data, 200, headers, found.mime)
