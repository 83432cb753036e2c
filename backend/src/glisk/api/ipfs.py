"""GET /ipfs/{cid}: what our own pinner keeps, shown as every IPFS gateway shows it (specs.ipfs.tech, path gateway).

As a file; as one block or as a CAR for whoever checks the hashes himself. Nothing is fetched from elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from glisk.api import refusal, showing
from glisk.api.seeing import MaySee, Sight, by_everybody
from glisk.api.showing import Shown
from glisk.errors import BadCid, BadQuery, NotHere
from glisk.images.sniff import sniff
from glisk.storage.ipfs.blocks import Blocks
from glisk.storage.ipfs.cid import parse
from glisk.storage.objects import Part

Format: TypeAlias = Literal["raw", "car"]

PATH = "/ipfs/{cid:path}"
RAW, CAR = "application/vnd.ipld.raw", "application/vnd.ipld.car"
CAR_AS_WRITTEN = f"{CAR}; version=1; order=dfs; dups=n"
TOLD_BY = 64  # so many first bytes tell what a file is
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file, or its blocks.", "content": {"*/*": {}}},
    **showing.ANSWERS,
    **refusal.responses(BadCid, BadQuery, NotHere),
}


def router(blocks: Blocks, may_see: MaySee = by_everybody) -> APIRouter:
    async def read(
        cid: Annotated[str, Path(description="The file's CID, version 1.")],
        request: Request,
        format: Annotated[Format | None, Query(description="As blocks: raw or car.")] = None,
    ) -> Response:
        """A file, by its CID. It never changes: keep it for as long as you like."""
        root = file_at(cid)
        if (by := await may_see(request, root)) == "nobody":
            raise NotHere
        return await answer(blocks, root, format or accepted(request.headers.get("accept", "")), request, by)

    routes = APIRouter(tags=["ipfs"])
    routes.add_api_route(PATH, read, methods=["GET"], response_class=StreamingResponse, responses={**ANSWERS})
    routes.add_api_route(PATH, read, methods=["HEAD"], include_in_schema=False)
    return routes


def file_at(path: str) -> str:
    cid, slash, _ = path.partition("/")
    parse(cid)
    if slash:
        raise NotHere("Nothing lies below a file.")
    return cid


def accepted(header: str) -> Format | None:
    if RAW in header:
        return "raw"
    return "car" if CAR in header else None


async def answer(blocks: Blocks, cid: str, format: Format | None, request: Request, by: Sight) -> Response:
    match format:
        case "raw":
            return await showing.answer(await one_block(blocks, cid), request, by)
        case "car":
            return await packed(blocks, cid, request, by)
        case None:
            return await showing.answer(await file(blocks, cid), request, by)


async def file(blocks: Blocks, cid: str) -> Shown:
    async def opened(part: Part | None) -> AsyncIterator[bytes]:
        return blocks.open(cid, part)

    size = await blocks.size(cid)
    start = b"".join([piece async for piece in blocks.open(cid, Part(0, TOLD_BY))])
    return Shown(size, mime(start), headers_of(cid), opened)


async def one_block(blocks: Blocks, cid: str) -> Shown:
    data = await blocks.block(cid)

    async def opened(part: Part | None) -> AsyncIterator[bytes]:
        return once(data[part.start : part.stop] if part else data)

    return Shown(len(data), RAW, headers_of(cid, ".raw"), opened)


async def packed(blocks: Blocks, cid: str, request: Request, by: Sight) -> Response:
    """How long it is shows only at its end."""
    chunks = blocks.car(cid)
    headers = {**headers_of(cid, ".car"), **showing.SAFE, **showing.kept_by(by), "Accept-Ranges": "none"}
    first = await anext(chunks)
    if showing.is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(None, 304, headers)
    body = once(b"") if request.method == "HEAD" else showing.going_on(first, chunks)
    return StreamingResponse(body, 200, headers, CAR_AS_WRITTEN)


def headers_of(cid: str, suffix: str = "") -> dict[str, str]:
    """`suffix`: what is not shown as a file is another thing, to be kept as such and opened by no browser."""
    attached = {"Content-Disposition": f'attachment; filename="{cid}{suffix}"'} if suffix else {}
    return attached | {
        "ETag": f'"{cid}{suffix}"',
        "Cache-Control": "public, max-age=29030400, immutable",
        "Vary": "Accept",
        "X-Ipfs-Path": f"/ipfs/{cid}",
        "X-Ipfs-Roots": cid,
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "Content-Length, Content-Range, X-Ipfs-Path, X-Ipfs-Roots",
    }


def mime(start: bytes) -> str:
    if picture := sniff(start):
        return picture.mime
    return "application/json" if start.lstrip()[:1] in (b"{", b"[") else "application/octet-stream"


async def once(data: bytes) -> AsyncIterator[bytes]:
    yield data
