"""OpenAI's HTTP API, as far as editing pictures and a bare chat go; each route's own rules are in a file of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from glisk.dev.standins import openai_chat, openai_edits
from glisk.dev.standins.base import Standin, Visit, as_json
from glisk.dev.standins.openai_problems import limited, of_status, refusal
from glisk.dev.standins.scenario import Scenario
from glisk.dev.standins.timeline import A_SECOND
from glisk.dev.standins.uploads import text_in, uploads

KEY = re.compile(r"Bearer sk-[\w-]+")
PER_MINUTE = 5
SERVES = ("gpt-4.1-mini", *openai_edits.MODELS)


class Answer(Scenario, frozen=True, kw_only=True, forbid_unknown_fields=True):
    on: str = "edit"
    code: str = ""  # of the error; empty: the usual one with its status


def standin() -> OpenAI:
    return OpenAI()


class OpenAI(Standin[Answer]):
    name = "openai"
    scenarios = Answer
    buckets: ClassVar[Mapping[str, int]] = {"edit": PER_MINUTE, "chat": PER_MINUTE}

    def apps(self) -> list[list[BaseRoute]]:
        return [
            [
                Route("/v1/images/edits", self.call("edit", self.edit), methods=["POST"]),
                Route("/v1/chat/completions", self.call("chat", self.chat), methods=["POST"]),
                Route("/v1/models/{model}", self.call("model", self.model), methods=["GET"]),
            ]
        ]

    def order(self, visit: Visit[Answer]) -> tuple[str, int | None]:
        if visit.entry.call != "edit":
            messages = visit.body.get("messages")
            return openai_chat.content_of(messages[-1]) if isinstance(messages, list) and messages else "", None
        return text_in(uploads(content_type(visit), visit.data), "prompt"), None

    def refused(self, visit: Visit[Answer]) -> Response | None:
        if not KEY.fullmatch(visit.request.headers.get("authorization", "")):
            return refusal("invalid_api_key")
        throttle = self.throttles.get(visit.entry.call)
        seconds = throttle.wait(self.timeline.now()) if throttle else 0
        return limited(refusal("rate_limit_exceeded"), seconds) if seconds else None

    def problem(self, scenario: Answer) -> Response:
        status = scenario.status_code or 500
        if scenario.body is not None:
            return Response(scenario.body, status, media_type=scenario.content_type or "application/json")
        return limited(of_status(status, scenario.code), scenario.retry_after_s)

    def dressed(self, response: Response, visit: Visit[Answer]) -> Response:
        response.headers["x-request-id"] = f"req_{visit.entry.number:032x}"
        return response

    async def edit(self, visit: Visit[Answer]) -> Response:
        """What is answered is charged for; so is what is taken though the answer goes wrong."""
        parts = uploads(content_type(visit), visit.data)
        if found := openai_edits.problem(content_type(visit), parts):
            return found
        self.made.add(None, visit.entry.prompt)
        self.charged.add(None, visit.entry.prompt)
        if visit.scenario.body is not None:
            return Response(visit.scenario.body, media_type=visit.scenario.content_type or "application/json")
        return openai_edits.answer(parts, self.timeline.now() // A_SECOND)

    async def chat(self, visit: Visit[Answer]) -> Response:
        if visit.scenario.body is not None:
            self.charged.add(None, visit.entry.prompt)
            return Response(visit.scenario.body, media_type=visit.scenario.content_type or "application/json")
        response = openai_chat.answered(visit.body, visit.entry.number, self.timeline.now() // A_SECOND)
        if response.status_code == 200:
            self.charged.add(None, visit.entry.prompt)
        return response

    async def model(self, visit: Visit[Answer]) -> Response:
        name = visit.request.path_params["model"]
        if name not in SERVES:
            return refusal("model_not_found", f"The model '{name}' does not exist", param="model")
        return as_json({"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "system"})


def content_type(visit: Visit[Answer]) -> str:
    return str(visit.request.headers.get("content-type", ""))
