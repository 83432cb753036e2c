"""/upload, /images and /image/raw: pictures that people bring, fetch once, or look at (seed 004)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.datastructures import UploadFile

from glisk.api import forms, objects, refusal, showing, whose
from glisk.api.access import Door
from glisk.api.album import Album, Handing, fitting, length
from glisk.api.asking import Asked
from glisk.api.connections import Connections
from glisk.api.delivering import Delivered
from glisk.api.file_shapes import Image, Uploaded, Uploads
from glisk.api.forms import MB, Limits
from glisk.api.personal import ALWAYS, HEADERS
from glisk.errors import (
    BadQuery,
    BodyTooLarge,
    FileMissing,
    NotTheirs,
    ObjectMissing,
    StorageDown,
)
from glisk.images.sniff import HEAD, JPEG, PNG, WEBP, Format, sniff_any
from glisk.images.whole import is_whole
from glisk.repositories import filenames, leftovers
from glisk.repositories.file_repository import FileRepository, NewFile
from glisk.repositories.own import Own
from glisk.settings import Settings
from glisk.storage.objects import Objects

FIELD, USER = "imageFiles", "userId"
LEFT = "X-Files-Left"
WANTED = "a PNG, JPEG, WebP, GIF or AVIF is wanted"
UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            forms.FORM: {
                "schema": {
                    "type": "object",
                    "required": [FIELD],
                    "properties": {
                        FIELD: {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                            "description": "PNG, JPEG, WebP, GIF or AVIF, one or several.",
                        },
                        USER: {
                            "type": "string",
                            "description": "Whose they are: needed with an operator's key, else that of the key.",
                        },
                    },
                }
            }
        },
    }
}
IMAGES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": list[Image],
        "description": "All of them, oldest first, up to 64 MB. Once they were received they are gone.",
        "headers": {LEFT: {"description": "How many did not fit: ask again.", "schema": {"type": "integer"}}},
    },
    **refusal.responses(BadQuery, NotTheirs, *ALWAYS, StorageDown),
}
RAW: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture.", "content": {"image/*": {}}},
    **showing.ANSWERS,
    **refusal.responses(FileMissing, BadQuery, *ALWAYS, StorageDown),
}
DRAWN = (PNG, JPEG, WEBP)  # whose parts we know
User = Annotated[str, Path(alias="userId", description="Whose.", examples=["anna"])]
Key = Annotated[str, Path(description="USER/NAME, as it was uploaded.", examples=["anna/brick.png"])]
Again = Annotated[bool, Query(description="Also what was sent before and did not arrive, for as long as it is there.")]


def router(own: Own, stored: Objects, door: Door, connections: Connections, settings: Settings) -> APIRouter:
    desk = Desk(FileRepository(own), own, stored, door, connections, settings, Album(stored))
    routes = APIRouter(tags=["files"], route_class=Asked)

    async def upload(request: Request, response: Response) -> Uploads:
        """Keep pictures, all of them or none. A name that is taken gets a number; nothing is overwritten."""
        response.headers.update(HEADERS)
        return await desk.upload(request)

    async def images(request: Request, user_id: User, again: Again = False) -> Response:
        """All pictures of a user in base64. Those that were received whole are deleted some time later, and not listed again."""
        return await desk.images(request, user_id, again=again)

    async def raw(request: Request, key: Key, again: Again = False) -> Response:
        """One picture as it is. It stays."""
        return await desk.raw(request, key, again=again)

    routes.add_api_route(
        "/upload",
        upload,
        methods=["POST"],
        status_code=201,
        openapi_extra=UPLOAD,
        responses=refusal.responses(BadQuery, BodyTooLarge, NotTheirs, *ALWAYS, StorageDown),
    )
    one, all = "/image/raw/{key:path}", "/images/{userId}"
    routes.add_api_route(all, images, methods=["GET"], response_class=StreamingResponse, responses=IMAGES)
    routes.add_api_route(all, images, methods=["HEAD"], include_in_schema=False)
    routes.add_api_route(one, raw, methods=["GET"], response_class=StreamingResponse, responses=RAW)
    routes.add_api_route(one, raw, methods=["HEAD"], include_in_schema=False)
    return routes


@dataclass(frozen=True, slots=True)
class Desk:
    files: FileRepository
    own: Own
    objects: Objects
    door: Door
    connections: Connections
    settings: Settings
    album: Album

    @property
    def limits(self) -> Limits:
        given = self.settings
        return Limits(given.upload_file_mb * MB, given.upload_files, given.upload_total_mb * MB)

    async def upload(self, request: Request) -> Uploads:
        visitor = await self.door.person(request)
        async with forms.form_of(request, self.limits, (FIELD, USER)) as form:
            user = whose.acting_for(visitor, forms.field(form, USER))
            if not (given := forms.files(form, FIELD)):
                raise BadQuery(f"{FIELD}: it is missing.")
            kinds = [await kind_of(each) for each in given]
            kept = [await self.kept(each, kind) for each, kind in zip(given, kinds, strict=True)]
        added = await self.files.add(user, kept)
        return Uploads(files=[self.told(user, new, old) for new, old in zip(added, given, strict=True)])

    async def kept(self, given: UploadFile, kind: Format) -> NewFile:
        stored = await leftovers.keep(self.own.link.fetch, self.objects, await given.read(), kind)
        return NewFile(filenames.safe(given.filename or ""), stored.key, kind.mime, stored.size)

    def told(self, user: str, file: NewFile, given: UploadFile) -> Uploaded:
        key = f"{user}/{file.name}"
        return Uploaded(
            key=key,
            name=file.name,
            originalName=given.filename or "",
            size=file.size,
            contentType=file.mime,
            url=f"{self.settings.address}/image/raw/{quote(key)}",
        )

    async def images(self, request: Request, user_id: str, *, again: bool) -> Response:
        visitor = await self.door.person(request)
        of = whose.acting_for(visitor, user_id)
        every = await self.files.listed(visitor.user_id, of, again=again)
        some = fitting(every)
        headers = {**HEADERS, LEFT: str(len(every) - len(some))}
        if request.method == "HEAD":
            return Response(None, 200, headers, "application/json")
        entries = [await self.album.entry(file) for file in some]
        handing = Handing(self.files, some, is_kept=self.settings.result_grace > 0)
        told = {**headers, "Content-Length": str(length(entries))}
        return Delivered(self.album.written(entries), told, handing, self.connections)

    async def raw(self, request: Request, key: str, *, again: bool) -> Response:
        visitor = await self.door.person(request)
        of, _, name = key.partition("/")
        file = await self.files.one(visitor.user_id, of, name, again=again) if is_plain(of, name) else None
        if file is None:
            raise FileMissing
        try:
            shown = await objects.found(self.objects, file.object_key)
        except ObjectMissing:
            raise FileMissing("Its bytes are lost.") from None
        named = f"inline; filename*=UTF-8''{quote(file.name, safe='')}"
        headers = {**shown.headers, "Content-Disposition": named, "Vary": "Authorization, Cookie"}
        return await showing.answer(showing.Shown(shown.size, file.mime, headers, shown.open), request, "owner")


def is_plain(*parts: str) -> bool:
    """What is none cannot be the name of a user or a file, and PostgreSQL would not even read it."""
    return all(part and part.isprintable() for part in parts)


async def kind_of(given: UploadFile) -> Format:
    """Asked of all of them before the first is kept."""
    data, name = await given.read(), (given.filename or "a file")[:100]
    await given.seek(0)
    if (kind := sniff_any(data[:HEAD])) is None:
        raise BadQuery(f"{FIELD}: {name!r} is no picture that is kept here; {WANTED}.")
    if kind in DRAWN and not await asyncio.to_thread(is_whole, data):
        raise BadQuery(f"{FIELD}: {name!r} is no whole picture.")
    return kind
