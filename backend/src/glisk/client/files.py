"""Pictures that one brings, looks at, or fetches once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from glisk.client.asking import given
from glisk.client.calling import AGAIN, Caller
from glisk.client.shapes import Image, Uploaded, Uploads

LEFT = "X-Files-Left"


@dataclass(frozen=True, slots=True)
class Files:
    caller: Caller

    async def upload(self, files: Mapping[str, bytes], *, user_id: str | None = None) -> Sequence[Uploaded]:
        """By their names, all of them or none."""
        parts = [("imageFiles", (name, data)) for name, data in files.items()]
        told = await self.caller.read(
            Uploads, "POST", "/upload", repeats=False, files=parts, data=given(userId=user_id)
        )
        return told.files

    async def images(self, user_id: str, *, again: bool = False) -> AsyncGenerator[Image, None]:
        """All of a user's. Those that have arrived are not listed again; `again`: also those that were, while they are there."""
        while True:
            params = AGAIN if again else {}
            path = f"/images/{quote(user_id, safe='')}"
            answer = await self.caller.ask("GET", path, repeats=True, if_lost=AGAIN, params=params)
            for image in msgspec.json.decode(answer.content, type=list[Image]):
                yield image
            if again or not int(answer.headers.get(LEFT, "0")):
                return

    async def raw(self, key: str) -> bytes:
        """One, as it is. It stays."""
        return (await self.caller.ask("GET", f"/image/raw/{quote(key)}", repeats=True)).content
