"""Kubo, the IPFS node: a file is imported as a CAR through its RPC, and its root is pinned."""

from __future__ import annotations

import asyncio
import base64
from datetime import timedelta
from typing import Any

import httpx
import msgspec
from msgspec import Struct, field

from glisk.errors import PinDown, WrongCid
from glisk.storage.ipfs.calls import LIMIT, TIMEOUT, Service, text_of
from glisk.storage.ipfs.car import written
from glisk.storage.ipfs.port import Dag

IMPORT, PINS = "/api/v0/dag/import", "/api/v0/pin/ls"
CAR = "application/vnd.ipld.car"
NOT_PINNED = "is not pinned"  # said with the status of a broken server


class Link(Struct):
    cid: str = field(name="/")


class Root(Struct, rename="pascal"):
    cid: Link
    pin_error_msg: str = ""


class Line(Struct, rename="pascal"):
    """One of the answer's: a root, or statistics, or what went wrong after the answer had begun."""

    root: Root | None = None
    message: str = ""


class Pins(Struct, rename="pascal"):
    keys: dict[str, Any] | None = None


class Kubo:
    name = "kubo"

    def __init__(self, url: str, auth: str = "", timeout: httpx.Timeout = TIMEOUT, limit: timedelta = LIMIT) -> None:
        """`auth` is user:password, or a token."""
        allowed, secrets = authorization(auth)
        client = httpx.AsyncClient(base_url=url, headers=allowed, timeout=timeout)
        self.service = Service("Kubo", client, secrets, limit)

    async def put(self, dag: Dag, label: str) -> None:
        car = await asyncio.to_thread(written, dag)
        file = {"file": (f"{label}.car", car, CAR)}
        answer = await self.service.asked("POST", IMPORT, params={"pin-roots": "true"}, files=file)
        if not answer.is_success:
            raise self.service.refusal(answer, words(answer))
        self.check(answer, dag.root, label)

    def check(self, answer: httpx.Response, wanted: str, label: str) -> None:
        lines = [self.service.read(line, Line) for line in answer.content.splitlines() if line.strip()]
        roots = [line.root for line in lines if line.root]
        if problem := next((said for said in [root.pin_error_msg for root in roots] if said), ""):
            raise PinDown(f"Kubo has not pinned {label}: {self.service.told(problem)}.")
        if problem := next((line.message for line in lines if line.message), ""):
            raise PinDown(f"Kubo broke off: {self.service.told(problem)}.")
        if not roots:
            raise PinDown("Kubo does not say what it has pinned.")
        if wanted not in [root.cid.cid for root in roots]:
            raise WrongCid(f"{label} is {wanted}; Kubo says {self.service.told(roots[0].cid.cid)}.")

    async def has(self, cid: str) -> bool:
        answer = await self.service.asked("POST", PINS, params={"arg": cid, "type": "recursive"})
        if answer.is_success:
            return cid in (self.service.read(answer.content, Pins).keys or {})
        said = words(answer)
        if answer.status_code == 500 and NOT_PINNED in said:
            return False
        raise self.service.refusal(answer, said)

    async def close(self) -> None:
        await self.service.client.aclose()


def authorization(auth: str) -> tuple[dict[bytes, bytes], list[str]]:
    """The header, and what must not be told of it."""
    if not auth:
        return {}, []
    _, colon, password = auth.partition(":")
    if not colon:
        return {b"Authorization": b"Bearer " + auth.encode()}, [auth]
    coded = base64.b64encode(auth.encode())
    return {b"Authorization": b"Basic " + coded}, [coded.decode(), password]


def words(answer: httpx.Response) -> str:
    """Its own `Message`; whoever stands before its commands, such as the check of the authorization, says it plainly."""
    try:
        return msgspec.json.decode(answer.content, type=Line).message
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return text_of(answer.text)
