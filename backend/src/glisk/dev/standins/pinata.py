"""Pinata's v3 API, as far as pinning a CAR and asking after it goes; both of its hosts behind one door."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from glisk.dev.standins.base import Command, Part, Standin, Visit, as_json
from glisk.dev.standins.gates import Gates
from glisk.dev.standins.replicate_problems import page
from glisk.dev.standins.scenario import Scenario
from glisk.dev.standins.timeline import stamp
from glisk.dev.standins.uploads import form, unpacked

KEY = re.compile(r"Bearer eyJ[\w-]+\.[\w-]+\.[\w-]+")
SIPS = 10  # of a slow answer
PER_MINUTE = 60  # of the free plan
# Reason and details. Those of 400 and 429 were not recorded word for word.
WORDS = {
    400: ("BAD_REQUEST", "The request could not be understood"),
    401: ("INVALID_CREDENTIALS", "Authorization failed"),
    403: ("FORBIDDEN", "Account blocked due to plan usage limit"),
    429: ("RATE_LIMITED", "Rate limit exceeded"),
    "NO_SCOPES_FOUND": ("NO_SCOPES_FOUND", "This key does not have the required scopes associated with it"),
    "API_KEY_REVOKED": ("API_KEY_REVOKED", "This API key has been revoked"),
}


class Answer(Scenario, frozen=True, kw_only=True, forbid_unknown_fields=True):
    on: str = "upload"
    reason: str = ""  # of a refusal; empty: the usual one with that code
    cid: str = ""  # told in place of the true one
    pause_s: float = 0.0  # between the bytes of the answer
    shown_after_s: float = 0.0  # so long the list does not have it yet


@dataclass(frozen=True, slots=True)
class Pin:
    id: str
    name: str
    cid: str
    size: int
    network: str
    created_at: int
    shown_at: int

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "cid": self.cid,
            "size": self.size,
            "created_at": stamp(self.created_at),
            "number_of_files": 1,
            "mime_type": "application/vnd.ipld.car",
            "group_id": None,
            "keyvalues": {},
        }


def standin() -> Pinata:
    return Pinata()


class Pinata(Standin[Answer]):
    name = "pinata"
    scenarios = Answer
    buckets: ClassVar[Mapping[str, int]] = {"upload": PER_MINUTE, "list": PER_MINUTE}

    def __init__(self) -> None:
        super().__init__()
        self.pins: dict[tuple[str, str], Pin] = {}  # by network and CID

    def parts(self) -> list[Part]:
        return [*super().parts(), self.pins]

    def apps(self) -> list[list[BaseRoute]]:
        upload, listing = self.call("upload", self.upload), self.call("list", self.listed)
        return [
            [Route("/v3/files", upload, methods=["POST"]), Route("/v3/files/{network}", listing, methods=["GET"])],
        ]

    def order(self, visit: Visit[Answer]) -> tuple[str, int | None]:
        """Scripts may be for files of a certain name, and for questions after a certain CID."""
        if visit.entry.call == "list":
            return visit.request.query_params.get("cid", ""), None
        visit.body = form(visit.request.headers.get("content-type", ""), visit.data)
        return word(visit.body, "name"), None

    def refused(self, visit: Visit[Answer]) -> Response | None:
        if not KEY.fullmatch(visit.request.headers.get("authorization", "")):
            return refusal(401)
        seconds = self.throttles[visit.entry.call].wait(self.timeline.now())
        return limited(refusal(429), seconds) if seconds else None

    def problem(self, scenario: Answer) -> Response:
        code = scenario.status_code or 500
        if scenario.body is not None:
            response = Response(scenario.body, code, media_type=scenario.content_type or "application/json")
        else:
            response = page(code) if code >= 500 else refusal(code, scenario.reason)
        return limited(response, scenario.retry_after_s)

    async def upload(self, visit: Visit[Answer]) -> Response:
        if word(visit.body, "car") != "true" or "file" not in visit.body:
            return refusal(400, "", "this stand-in takes files only as CARs: file, car=true")
        try:
            root, size = unpacked(visit.body["file"])
        except ValueError as error:
            return refusal(400, "", str(error))
        pin, is_duplicate = self.kept(root, size, visit)
        further = {"vectorized": False, "network": pin.network, "is_duplicate": is_duplicate}
        return self.told({**pin.shown(), **further, "cid": visit.scenario.cid or root}, visit.scenario)

    def kept(self, root: str, size: int, visit: Visit[Answer]) -> tuple[Pin, bool]:
        visit.entry.subject = root
        network = word(visit.body, "network") or "private"
        if found := self.pins.get((network, root)):
            return found, True
        now, shown_at = self.timeline.now(), self.timeline.in_seconds(visit.scenario.shown_after_s)
        pin = Pin(str(uuid.uuid4()), word(visit.body, "name"), root, size, network, now, shown_at)
        self.pins[network, root] = pin
        return pin, False

    async def listed(self, visit: Visit[Answer]) -> Response:
        query, network = visit.request.query_params, visit.request.path_params["network"]
        found = [
            pin.shown()
            for pin in self.pins.values()
            if pin.network == network and pin.shown_at <= self.timeline.now() and query.get("cid") in (None, pin.cid)
        ]
        return self.told({"files": found, "next_page_token": ""}, visit.scenario)

    def told(self, data: dict[str, Any], scenario: Answer) -> Response:
        response = as_json({"data": data}) if scenario.body is None else Response(scenario.body)
        if not scenario.pause_s:
            return response
        sips = sipped(bytes(response.body), scenario.pause_s, self.gates)
        return StreamingResponse(sips, headers=dict(response.headers))

    def commands(self) -> dict[str, Command]:
        return {**super().commands(), "pins": self.tell_pins, "drop": self.take_drop}

    async def tell_pins(self, given: dict[str, Any]) -> Any:
        return [{**pin.shown(), "network": pin.network} for pin in self.pins.values()]

    async def take_drop(self, given: dict[str, Any]) -> Any:
        """As if it had never been there."""
        for key in [key for key in self.pins if key[1] == given["cid"]]:
            del self.pins[key]


def refusal(code: int, reason: str = "", details: str = "") -> Response:
    usual = WORDS.get(reason) or WORDS.get(code) or WORDS[400]
    return as_json({"error": {"reason": reason or usual[0], "details": details or usual[1]}}, code)


def limited(response: Response, seconds: int | None) -> Response:
    if seconds is not None:
        response.headers["Retry-After"] = str(seconds)
    return response


def word(fields: Mapping[str, Any], name: str) -> str:
    found: bytes = fields.get(name, b"")
    return found.decode(errors="replace")


async def sipped(data: bytes, pause_s: float, gates: Gates) -> AsyncIterator[bytes]:
    size = len(data) // SIPS + 1
    for start in range(0, len(data), size):
        yield data[start : start + size]
        if gates.is_closing:
            return
        await gates.rest(pause_s)
