"""Kubo's RPC, as far as importing a CAR and asking after its pin goes."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from glisk.dev.standins.base import Command, Part, Standin, Visit, as_json
from glisk.dev.standins.replicate_problems import page
from glisk.dev.standins.scenario import Scenario
from glisk.dev.standins.uploads import form, unpacked

DENIED = (
    "Kubo RPC Access Denied: Please provide a valid authorization token as defined in the API.Authorizations "
    "configuration.\n"
)


class Answer(Scenario, frozen=True, kw_only=True, forbid_unknown_fields=True):
    on: str = "import"
    message: str = ""  # of an error with the status 500
    pin_error: str = ""  # the blocks are taken, the pin is not made
    cid: str = ""  # told in place of the true one


def standin() -> Kubo:
    return Kubo()


class Kubo(Standin[Answer]):
    name = "kubo"
    scenarios = Answer

    def __init__(self, auth: str = "") -> None:
        """`auth` is user:password, or a token."""
        super().__init__()
        self.auth = auth
        self.pins: dict[str, int] = {}  # the bytes of each

    def parts(self) -> list[Part]:
        return [*super().parts(), self.pins]

    def apps(self) -> list[list[BaseRoute]]:
        importing, pins = self.call("import", self.imported), self.call("pins", self.listed)
        return [
            [
                Route("/api/v0/dag/import", importing, methods=["POST"]),
                Route("/api/v0/pin/ls", pins, methods=["POST"]),
            ]
        ]

    def order(self, visit: Visit[Answer]) -> tuple[str, int | None]:
        """Scripts may be for questions after a certain CID."""
        return visit.request.query_params.get("arg", ""), None

    def refused(self, visit: Visit[Answer]) -> Response | None:
        """A browser tells from where it comes, and is sent away; who has no authorization too."""
        headers = visit.request.headers
        if "origin" in headers:
            return Response("403 - Forbidden\n", 403, media_type="text/plain; charset=utf-8")
        return denied() if self.auth and headers.get("authorization") != header(self.auth) else None

    def problem(self, scenario: Answer) -> Response:
        code = scenario.status_code or 500
        if scenario.body is not None:
            return Response(scenario.body, code, media_type=scenario.content_type or "text/plain")
        if code == 403:
            return denied()
        return broken(scenario.message or "internal error") if code == 500 else page(code)

    async def imported(self, visit: Visit[Answer]) -> Response:
        try:
            root, size = unpacked(form(visit.request.headers.get("content-type", ""), visit.data)["file"])
        except KeyError:
            return broken('argument "path" is required', 400)
        except ValueError as error:
            return broken(str(error))
        visit.entry.subject = root
        if not visit.scenario.pin_error and visit.request.query_params.get("pin-roots", "true") == "true":
            self.pins[root] = size
        line = {"Root": {"Cid": {"/": visit.scenario.cid or root}, "PinErrorMsg": visit.scenario.pin_error}}
        return told(line, visit.scenario)

    async def listed(self, visit: Visit[Answer]) -> Response:
        asked = visit.request.query_params.get("arg", "")
        if asked not in self.pins:
            return broken(f"path '{asked}' is not pinned")
        return told({"Keys": {asked: {"Type": "recursive"}}}, visit.scenario)

    def commands(self) -> dict[str, Command]:
        return {**super().commands(), "pins": self.tell_pins, "drop": self.take_drop}

    async def tell_pins(self, given: dict[str, Any]) -> Any:
        return [{"cid": cid} for cid in self.pins]

    async def take_drop(self, given: dict[str, Any]) -> Any:
        self.pins.pop(str(given["cid"]), None)


def told(line: dict[str, Any], scenario: Answer) -> Response:
    headers = {"X-Chunked-Output": "1", "Trailer": "X-Stream-Error"}
    content = msgspec.json.encode(line) + b"\n" if scenario.body is None else scenario.body
    return Response(content, 200, headers, "application/json")


def broken(message: str, code: int = 500) -> Response:
    return as_json({"Message": message, "Code": int(code < 500), "Type": "error"}, code, "application/json")


def denied() -> Response:
    return Response(DENIED, 403, media_type="text/plain; charset=utf-8")


def header(auth: str) -> str:
    return f"Basic {base64.b64encode(auth.encode()).decode()}" if ":" in auth else f"Bearer {auth}"
