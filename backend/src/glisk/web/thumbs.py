"""GET /thumbs/{key}: a picture, small enough that sixty of them are no burden; who may see the picture may see this."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from io import BytesIO

from fastapi import APIRouter, Request, Response
from PIL import Image

from glisk.api import seeing
from glisk.api.showing import SAFE, is_known
from glisk.errors import ObjectMissing
from glisk.storage.keys import parsed
from glisk.storage.objects import Objects
from glisk.web.site import Site

EDGE, QUALITY, EFFORT = 640, 80, 2  # pixels; WebP's scales to 100 and to 6
AT_ONCE = 2  # are made: more would take the machine from those who draw
MOST_BYTES = 48 << 20


@dataclass(slots=True)
class Shelf:
    """Those that were wanted last. Each can be made again."""

    objects: Objects
    kept: OrderedDict[str, bytes] = field(default_factory=OrderedDict)
    size: int = 0
    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def thumb(self, key: str) -> bytes:
        async with self.turn:
            if (found := self.kept.get(key)) is None:
                found = await self.made(key)
                self.keep(key, found)
            self.kept.move_to_end(key)
            return found

    async def made(self, key: str) -> bytes:
        if (data := await self.objects.get(key)) is None:
            raise ObjectMissing(f"It would be {key}.")
        return await asyncio.to_thread(smaller, data)

    def keep(self, key: str, data: bytes) -> None:
        self.kept[key] = data
        self.size += len(data)
        while self.size > MOST_BYTES:
            self.size -= len(self.kept.popitem(last=False)[1])


def smaller(data: bytes) -> bytes:
    with Image.open(BytesIO(data)) as picture:
        picture.thumbnail((EDGE, EDGE))
        made = BytesIO()
        picture.convert("RGB").save(made, "WEBP", quality=QUALITY, method=EFFORT)
        return made.getvalue()


def mount(routes: APIRouter, site: Site) -> None:
    may_see, shelf = seeing.objects(site.link, site.door, reveals=site.settings.reveals), Shelf(site.objects)

    async def show(key: str, request: Request) -> Response:
        name = parsed(key)
        if (by := await may_see(request, key)) == "nobody":
            raise ObjectMissing
        lasting = "public, max-age=31536000, immutable" if by == "everybody" else seeing.FOR_ONE
        headers = {**SAFE, "ETag": f'"{name.sha256}-{EDGE}"', "Cache-Control": lasting}
        if is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
            return Response(None, 304, headers)
        return Response(await shelf.thumb(key), 200, headers, "image/webp")

    routes.add_api_route("/thumbs/{key:path}", show, methods=["GET"])
