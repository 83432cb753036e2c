"""Kubo's RPC, as far as importing a CAR and asking after its pin goes."""

from __future__ import annotations

import base64
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from glisk.dev.standins.base import Command, Part, Standin, Visit, as_json
from glisk.dev.standins.replicate_problems import page
from glisk.dev.standins.scenario import Scenario
from glisk.dev.standins.uploads import Unpacked, form, unpacked

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
        self.pins: dict[str, Unpacked] = {}

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
            content = unpacked(form(visit.request.headers.get("content-type", ""), visit.data)["file"])
        except KeyError:
            return Response('{"Message":"argument \\"path\\" is required","Code":1,"Type":"error"}', 400)
        except ValueError as error:
            return broken(str(error))
        visit.entry.subject = content.root
        return self.answered(content, visit)

    def answered(self, content: Unpacked, visit: Visit[Answer]) -> Response:
        """A line each, the second only for who asks; what it could not pin is told with the status 200."""
        problem = visit.scenario.pin_error
        if content.missing:
            problem = f"block was not found locally (offline): ipld: could not find {content.missing}"
        if not problem and visit.request.query_params.get("pin-roots", "true") == "true":
            self.pins[content.root] = content
        root = {"Cid": {"/": visit.scenario.cid or content.root}, "PinErrorMsg": problem}
        lines = [as_json({"Root": root}).body]
        if visit.request.query_params.get("stats") == "true":
            sizes = [len(data) for data in content.blocks.values()]
            lines.append(as_json({"Stats": {"BlockCount": len(sizes), "BlockBytesCount": sum(sizes)}}).body)
        return told(b"".join(bytes(line) + b"\n" for line in lines), visit.scenario)

    async def listed(self, visit: Visit[Answer]) -> Response:
        asked = visit.request.query_params.get("arg", "")
        if asked not in self.pins:
            return broken(f"path '{asked}' is not pinned")
        return told(bytes(as_json({"Keys": {asked: {"Type": "recursive"}}}).body), visit.scenario)

    def commands(self) -> dict[str, Command]:
        return {**super().commands(), "pins": self.tell_pins, "drop": self.take_drop}

    async def tell_pins(self, given: dict[str, Any]) -> Any:
        return [{"cid": cid} for cid in self.pins]

    async def take_drop(self, given: dict[str, Any]) -> Any:
        self.pins.pop(str(given["cid"]), None)


def told(data: bytes, scenario: Answer) -> Response:
    headers = {"X-Chunked-Output": "1", "Trailer": "X-Stream-Error"}
    return Response(data if scenario.body is None else scenario.body, 200, headers, "application/json")


def broken(message: str) -> Response:
    return as_json({"Message": message, "Code": 0, "Type": "error"}, 500, "application/json")


def denied() -> Response:
    return Response(DENIED, 403, media_type="text/plain; charset=utf-8")


def header(auth: str) -> str:
    return f"Basic {base64.b64encode(auth.encode()).decode()}" if ":" in auth else f"Bearer {auth}"
