"""Replicate's HTTP API, as far as drawing pictures goes."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from email.utils import formatdate
from functools import partial
from typing import Any, ClassVar

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from glisk.dev.standins import replicate_list as lists
from glisk.dev.standins import replicate_prediction as predictions
from glisk.dev.standins.base import Command, Part, Standin, Visit, as_json
from glisk.dev.standins.replicate_files import FOLDER, Shelf
from glisk.dev.standins.replicate_models import (
    Catalogue,
    Model,
    faults_in_body,
    faults_in_input,
    model_page,
    version_page,
)
from glisk.dev.standins.replicate_prediction import Plan, Prediction, Status
from glisk.dev.standins.replicate_problems import PROBLEM, invalid, page, problem, reduced, throttled
from glisk.dev.standins.replicate_studio import Studio
from glisk.dev.standins.throttle import Throttle
from glisk.dev.standins.webhooks import Courier, a_secret

TOKEN = re.compile(r"(Bearer|Token) r8_\w+")
WAIT = re.compile(r"wait(?:=(\d+))?")
LONGEST_WAIT_S = 60
CANCEL_AFTER = re.compile(r"(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
SHORTEST_DEADLINE_S, LONGEST_DEADLINE_S = 5, 86_400
LOW_CREDIT = 6  # creations a minute
ANYTHING = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def standin() -> Replicate:
    return Replicate()


class Replicate(Standin[Plan]):
    name = "replicate"
    scenarios = Plan
    doors = 2  # the API and the output files
    buckets: ClassVar[Mapping[str, int]] = {"create": 599, "get": 59_999, "other": 2999}

    def __init__(self) -> None:
        super().__init__()
        self.catalogue, self.shelf = Catalogue(), Shelf()
        self.courier = Courier(self.timeline, a_secret())
        self.studio = Studio(self, self.shelf, self.courier)

    def parts(self) -> list[Part]:
        return [*super().parts(), self.shelf, self.courier, self.studio]

    async def close(self) -> None:
        await super().close()
        await self.courier.close()

    def apps(self) -> list[list[BaseRoute]]:
        by_version = self.call("create", self.create_by_version)
        by_model = self.call("create", self.create_by_model)
        by_deployment = self.call("create", self.create_by_deployment)
        api: list[BaseRoute] = [
            Route("/v1/predictions", by_version, methods=["POST"]),
            Route("/v1/predictions", self.call("list", self.every), methods=["GET"]),
            Route("/v1/predictions/{id}", self.call("get", self.get), methods=["GET"]),
            Route("/v1/predictions/{id}/cancel", self.call("cancel", self.cancel), methods=["POST"]),
            Route("/v1/models/{owner}/{name}/predictions", by_model, methods=["POST"]),
            Route("/v1/deployments/{owner}/{name}/predictions", by_deployment, methods=["POST"]),
            Route("/v1/models/{owner}/{name}", self.call("model", self.model), methods=["GET"]),
            Route("/v1/models/{owner}/{name}/versions/{id}", self.call("version", self.version), methods=["GET"]),
            Route("/v1/webhooks/default/secret", self.call("secret", self.secret), methods=["GET"]),
            Route("/v1/account", self.call("account", self.account), methods=["GET"]),
            Route("/{path:path}", self.call("unknown", self.unknown), methods=ANYTHING),
        ]
        files: list[BaseRoute] = [Route(f"/{FOLDER}/{{token}}/{{file}}", self.call("file", self.file))]
        return [api, files]

    def refused(self, visit: Visit[Plan]) -> Response | None:
        if visit.entry.call == "file":
            return None
        if not visit.entry.has_token:
            return problem(401, "You did not pass an authentication token")
        if not TOKEN.fullmatch(visit.request.headers["authorization"]):
            return problem(401)
        return self.too_often(visit.entry.call)

    def too_often(self, call: str) -> Response | None:
        bucket = self.bucket(call)
        if not (seconds := bucket.wait(self.timeline.now())):
            return None
        a_minute = round((bucket.rate or 0) * 60)
        is_low = call == "create" and a_minute <= LOW_CREDIT
        return throttled(seconds, reduced(a_minute, bucket.burst, seconds) if is_low else None)

    def bucket(self, call: str) -> Throttle:
        return self.throttles.get(call, self.throttles["other"])

    def problem(self, scenario: Plan) -> Response:
        code = scenario.status_code or 500
        if scenario.body is not None:
            return Response(scenario.body, code, media_type=scenario.content_type or PROBLEM)
        if code == 429:
            return throttled(scenario.retry_after_s or 1, scenario.detail)
        response = page(code) if code >= 500 else problem(code, scenario.detail)
        if scenario.retry_after_s is not None:
            response.headers["Retry-After"] = str(scenario.retry_after_s)
        return response

    def dressed(self, response: Response, visit: Visit[Plan]) -> Response:
        response.headers["date"] = formatdate(usegmt=True)
        call = visit.entry.call
        if call != "file" and response.status_code != 401:
            left = self.bucket(call).remaining
            response.headers.update({"ratelimit-remaining": str(left), "ratelimit-reset": "1"})
        return response

    def order(self, visit: Visit[Plan]) -> tuple[str, int | None]:
        if visit.entry.call == "create":
            given = visit.body.get("input")
            given = given if isinstance(given, dict) else {}
            seed = given.get("seed")
            return str(given.get("prompt", "")), seed if isinstance(seed, int) else None
        found = self.asked_for(visit)
        visit.entry.subject = found.id if found else ""
        return (found.prompt, found.seed) if found else ("", None)

    def asked_for(self, visit: Visit[Plan]) -> Prediction | None:
        path = visit.request.path_params
        file = self.shelf.files.get(path.get("token", ""))
        return file.prediction if file else self.studio.predictions.get(path.get("id", ""))

    async def create_by_version(self, visit: Visit[Plan]) -> Response:
        if faults := faults_in_body(visit.body, takes_version=True):
            return invalid(faults)
        model = self.catalogue.of_version(visit.body["version"])
        if model is None:
            return problem(422)
        version = (
            "hidden" if "/" in visit.body["version"] and model.is_official else visit.body["version"].split(":")[-1]
        )
        return await self.create(visit, model, version)

    async def create_by_model(self, visit: Visit[Plan]) -> Response:
        model = self.catalogue.models.get("{owner}/{name}".format(**visit.request.path_params))
        if model is None or not model.is_official:
            return problem(404)
        faults = faults_in_body(visit.body, takes_version=False)
        return invalid(faults) if faults else await self.create(visit, model, "hidden")

    async def create_by_deployment(self, visit: Visit[Plan]) -> Response:
        """Every deployment is one of the first model."""
        deployment = "{owner}/{name}".format(**visit.request.path_params)
        model, *_ = self.catalogue.models.values()
        version = f"dp-{hashlib.sha256(deployment.encode()).hexdigest()[:32]}"
        faults = faults_in_body(visit.body, takes_version=False)
        return invalid(faults) if faults else await self.create(visit, model, version, deployment)

    async def create(self, visit: Visit[Plan], model: Model, version: str, deployment: str | None = None) -> Response:
        if faults := faults_in_input(visit.body["input"], model):
            return invalid(faults)
        try:
            lifetime = seconds_in(visit.request.headers.get("cancel-after", ""))
        except ValueError as error:
            return problem(400, str(error))
        now = self.timeline.now()
        prediction = Prediction(
            id=predictions.an_id(),
            number=len(self.studio.predictions) + 1,
            model=model,
            version=version,
            input=visit.body["input"],
            plan=visit.scenario,
            created_at=now,
            deadline=self.timeline.in_seconds(lifetime) if lifetime else None,
            webhook=visit.body.get("webhook", ""),
            events=tuple(visit.body.get("webhook_events_filter") or predictions.USUAL_EVENTS),
            deployment=deployment,
        )
        visit.entry.subject = prediction.id
        self.studio.take(prediction)
        return await self.created(visit, prediction)

    async def created(self, visit: Visit[Plan], prediction: Prediction) -> Response:
        url, asked = self.urls[0], visit.request.headers.get("prefer", "")
        wanted = WAIT.fullmatch(asked)
        if wanted is None:
            return as_json(predictions.shown(prediction, self.timeline.now(), url, digits=9), 201)
        await self.waited(prediction, min(int(wanted[1] or LONGEST_WAIT_S), LONGEST_WAIT_S))
        is_early = prediction.status in (Status.STARTING, Status.PROCESSING, prediction.plan.early)
        show = predictions.blocking if is_early else predictions.shown
        response = as_json(show(prediction, self.timeline.now(), url), 201)
        response.headers["Preference-Applied"] = asked
        return response

    async def waited(self, prediction: Prediction, seconds: int) -> None:
        over = asyncio.Event()
        prediction.watchers.append(over)
        self.timeline.at(self.timeline.in_seconds(seconds), over.set)
        await self.gates.until(over)

    async def get(self, visit: Visit[Plan]) -> Response:
        found = self.asked_for(visit)
        return self.told(found) if found else problem(404)

    async def cancel(self, visit: Visit[Plan]) -> Response:
        if found := self.asked_for(visit):
            self.studio.cancel(found)
        return self.told(found) if found else problem(404)

    def told(self, prediction: Prediction) -> Response:
        return as_json(predictions.shown(prediction, self.timeline.now(), self.urls[0]))

    async def every(self, visit: Visit[Plan]) -> Response:
        every, query = [*self.studio.predictions.values()], dict(visit.request.query_params)
        try:
            return as_json(lists.page(every, query, self.timeline.now(), self.urls[0]))
        except ValueError as error:
            return problem(400, str(error))

    async def model(self, visit: Visit[Plan]) -> Response:
        found = self.catalogue.models.get("{owner}/{name}".format(**visit.request.path_params))
        return as_json(model_page(found)) if found else problem(404)

    async def version(self, visit: Visit[Plan]) -> Response:
        path = visit.request.path_params
        found = self.catalogue.models.get("{owner}/{name}".format(**path))
        return as_json(version_page(found, path["id"])) if found and found.has(path["id"]) else problem(404)

    async def secret(self, visit: Visit[Plan]) -> Response:
        return as_json({"key": self.courier.secret})

    async def account(self, visit: Visit[Plan]) -> Response:
        return as_json({"type": "user", "username": "stand-in", "name": "Stand-in", "github_url": None})

    async def unknown(self, visit: Visit[Plan]) -> Response:
        return problem(404)

    async def file(self, visit: Visit[Plan]) -> Response:
        file = self.shelf.files.get(visit.request.path_params["token"])
        if file is None or file.prediction.is_removed(self.timeline.now()):
            return Response("Not Found", 404, media_type="text/plain")
        return await self.shelf.sent(file, visit.scenario, self.gates)

    def commands(self) -> dict[str, Command]:
        ours: dict[str, Command] = {
            "predictions": self.tell_predictions,
            "go": self.take_go,
            "webhooks": self.tell_webhooks,
            "pictures": self.take_picture,
        }
        return {**super().commands(), **ours}

    async def tell_predictions(self, given: dict[str, Any]) -> Any:
        show = partial(predictions.shown, now=0, url=self.urls[0])
        return [{**show(found), "charged": found.is_charged} for found in self.studio.predictions.values()]

    async def take_go(self, given: dict[str, Any]) -> Any:
        """Those with this id, this seed, this text in the prompt; without any of them all."""
        id, seed, prompt = given.get("id"), given.get("seed"), str(given.get("prompt", ""))
        chosen = [
            found
            for found in self.studio.predictions.values()
            if id in (None, found.id) and seed in (None, found.seed) and prompt in found.prompt
        ]
        self.studio.go_on(chosen, to_end=given.get("to", "end") == "end")

    async def tell_webhooks(self, given: dict[str, Any]) -> Any:
        await self.courier.settled()
        return self.courier.shown()

    async def take_picture(self, given: dict[str, Any]) -> Any:
        self.shelf.uploads[given["name"]] = given["data"]

    async def tell_rates(self, given: dict[str, Any]) -> Any:
        return {**await super().tell_rates(given), "most_in_flight": self.studio.most_in_flight}


def seconds_in(text: str) -> int | None:
    """Of a Cancel-After header: 30s, 1m, 1m30s."""
    if not text:
        return None
    if not (found := CANCEL_AFTER.fullmatch(text)):
        raise ValueError(f"Cancel-After: {text} is no duration")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    total = hours * 3600 + minutes * 60 + seconds
    if not SHORTEST_DEADLINE_S <= total <= LONGEST_DEADLINE_S:
        raise ValueError(f"Cancel-After: {text} is not between {SHORTEST_DEADLINE_S}s and 24h")
    return total
