"""Pinata: a file goes to it as a CAR, on the public network, and must come out under the CID it had before."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, TypeVar

import httpx
import msgspec
from msgspec import Struct

from glisk.errors import PinDown, WrongCid
from glisk.storage.ipfs.calls import LIMIT, TIMEOUT, Service, text_of
from glisk.storage.ipfs.car import written
from glisk.storage.ipfs.port import Dag

T = TypeVar("T")

CAR = "application/vnd.ipld.car"
# Without `network` it would be private: no gateway but theirs, and only with a key, would have it.
PUBLIC = {"network": "public", "car": "true"}
PENDING = "pending"  # in place of a CID, while it is still being worked out


class File(Struct):
    cid: str


class Uploaded(Struct):
    data: File


class Page(Struct):
    files: list[File] | None = None


class Listed(Struct):
    data: Page


class Refusal(Struct):
    """`error` is an object with `reason` and `details`, or just a sentence."""

    error: Any = None
    message: Any = None


class Pinata:
    name = "pinata"

    def __init__(
        self,
        jwt: str,
        url: str = "https://api.pinata.cloud",
        upload_url: str = "https://uploads.pinata.cloud",
        timeout: httpx.Timeout = TIMEOUT,
        limit: timedelta = LIMIT,
    ) -> None:
        self.files, self.uploads = f"{url}/v3/files/public", f"{upload_url}/v3/files"
        client = httpx.AsyncClient(headers={"Authorization": f"Bearer {jwt}"}, timeout=timeout)
        self.service = Service("Pinata", client, [jwt], limit)

    async def put(self, dag: Dag, label: str) -> None:
        car = await asyncio.to_thread(written, dag)
        fields, file = {**PUBLIC, "name": label}, (f"{label}.car", car, CAR)
        found = await self.answer("POST", self.uploads, Uploaded, data=fields, files={"file": file})
        if found.data.cid == PENDING:
            raise PinDown("Pinata has it, but has not worked out its CID yet.")
        if found.data.cid != dag.root:
            raise WrongCid(f"{label} is {dag.root}; Pinata says {self.service.told(found.data.cid)}.")

    async def has(self, cid: str) -> bool:
        found = await self.answer("GET", self.files, Listed, params={"cid": cid})
        return any(file.cid == cid for file in found.data.files or [])

    async def close(self) -> None:
        await self.service.client.aclose()

    async def answer(self, method: str, url: str, kind: type[T], **content: Any) -> T:
        answer = await self.service.asked(method, url, **content)
        if not answer.is_success:
            raise self.service.refusal(answer, words(answer))
        return self.service.read(answer.content, kind)


def words(answer: httpx.Response) -> str:
    try:
        found = msgspec.json.decode(answer.content, type=Refusal)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return text_of(answer.text)
    said = found.error or found.message
    parts = [said.get("reason"), said.get("details")] if isinstance(said, dict) else [said]
    return ": ".join(part for part in parts if isinstance(part, str) and part)
