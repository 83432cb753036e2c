"""What every stand-in shares: its calls are logged and follow the script, and a control plane under `/__` writes that script."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from email.utils import formatdate
from typing import Any, ClassVar, Generic, Protocol, TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from glisk.dev.standins.gates import Gates
from glisk.dev.standins.journal import Entry, Journal, Tally
from glisk.dev.standins.scenario import Drop, S, Script
from glisk.dev.standins.throttle import Throttle
from glisk.dev.standins.timeline import A_SECOND, Timeline, stamp
from glisk.dev.standins.wire import HungUp, Lines, Torn

TOLD_HEADERS = ("prefer", "cancel-after", "user-agent", "content-type", "range")
LONGEST_WAIT_S = 60.0


@dataclass(slots=True)
class Visit(Generic[S]):
    """One call under way."""

    request: Request
    entry: Entry
    scenario: S
    body: dict[str, Any] = field(default_factory=dict)
    data: bytes = b""  # the body as it came


class Part(Protocol):
    def clear(self) -> None: ...


Command: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]
Handler: TypeAlias = Callable[[Visit[S]], Awaitable[Response]]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


class Standin(ABC, Generic[S]):
    name: str
    scenarios: type[S]
    doors = 1  # listeners: a second one is a second host
    buckets: ClassVar[Mapping[str, int]] = {}  # calls whose rate may be limited; what is left of each when it is not

    def __init__(self) -> None:
        self.timeline, self.journal, self.gates = Timeline(), Journal(), Gates()
        self.script = Script(self.scenarios)
        self.throttles = {bucket: Throttle(usual) for bucket, usual in self.buckets.items()}
        self.made, self.charged = Tally(), Tally()
        self.urls: list[str] = []  # known when the listeners are
        self.lines: Lines

    @abstractmethod
    def apps(self) -> list[list[BaseRoute]]:
        """The routes of every door."""

    @abstractmethod
    def refused(self, visit: Visit[S]) -> Response | None:
        """Before the script: who may not call, or calls too often."""

    @abstractmethod
    def problem(self, scenario: S) -> Response:
        """What this provider answers with the scenario's status code."""

    @abstractmethod
    def order(self, visit: Visit[S]) -> tuple[str, int | None]:
        """The prompt and the seed that the call is about."""

    def dressed(self, response: Response, visit: Visit[S]) -> Response:
        """With the headers that this provider puts on everything."""
        return response

    def commands(self) -> dict[str, Command]:
        return {
            "log": self.tell_log,
            "scenario": self.take_scenario,
            "reset": self.take_reset,
            "charges": self.tell_charges,
            "clock": self.take_clock,
            "release": self.take_release,
            "limits": self.take_limits,
            "rates": self.tell_rates,
        }

    def parts(self) -> list[Part]:
        """What a reset empties."""
        counted: list[Part] = [self.made, self.charged, *self.throttles.values()]
        return [self.timeline, self.journal, self.gates, self.script, *counted]

    async def run(self) -> None:
        """Until it is cancelled."""
        await self.timeline.run()

    def clear(self) -> None:
        for part in self.parts():
            part.clear()

    async def close(self) -> None:
        self.gates.close()

    def call(self, name: str, handle: Handler[S]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            self.timeline.catch_up()
            try:
                visit = await self.entered(name, request)
            except ClientDisconnect:  # who ends before the request does has asked for nothing
                return Response()
            refusal = self.refused(visit)
            response = self.dressed(refusal, visit) if refusal else await self.played(visit, handle)
            response.headers["date"] = formatdate(self.timeline.now() / A_SECOND, usegmt=True)
            visit.entry.status = None if type(response) is HungUp else response.status_code
            return response

        return endpoint

    async def entered(self, name: str, request: Request) -> Visit[S]:
        told = {header: request.headers[header] for header in TOLD_HEADERS if header in request.headers}
        entry = Entry(
            number=self.journal.count + 1,
            at=stamp(self.timeline.now()),
            call=name,
            method=request.method,
            path=request.url.path,
            query=request.url.query,
            headers=told,
            has_token="authorization" in request.headers,
        )
        data = await request.body()
        visit = Visit(request, entry, self.scenarios(), object_in(data), data)
        entry.prompt, entry.seed = self.order(visit)
        await self.journal.add(entry)
        return visit

    async def played(self, visit: Visit[S], handle: Handler[S]) -> Response:
        scenario = visit.scenario = self.script.next(visit.entry.call, visit.entry.prompt)
        visit.entry.fault = str(scenario.drop or "")
        if scenario.drop is Drop.BEFORE:
            return HungUp(self.lines, reset=scenario.reset)
        is_error = scenario.status_code is not None and scenario.status_code >= 400
        response = self.problem(scenario) if is_error else await handle(visit)
        if is_error and scenario.taken:
            await handle(visit)
        elif scenario.status_code and response.status_code < 400:
            response.status_code = scenario.status_code
        await self.stalled(scenario)
        return self.broken(self.dressed(response, visit), scenario)

    async def stalled(self, scenario: S) -> None:
        if scenario.delay_s:
            await self.gates.rest(scenario.delay_s)
        if scenario.hold:
            await self.gates.at(scenario.hold)

    def broken(self, response: Response, scenario: S) -> Response:
        match scenario.drop:
            case Drop.AFTER:
                return HungUp(self.lines, reset=scenario.reset)
            case Drop.MID_BODY:
                return Torn(response, self.lines, reset=scenario.reset)
            case _:
                return response

    def control_routes(self) -> list[BaseRoute]:
        return [Route("/__{command:path}", self.commanded, methods=["GET", "POST", "PUT"])]

    async def commanded(self, request: Request) -> Response:
        """A path below the command names its object, and then the body is that object's data."""
        command, _, name = request.path_params["command"].partition("/")
        data = await request.body()
        given = {"name": name, "data": data} if name else {**request.query_params, **object_in(data)}
        try:
            return as_json(await self.obey(command, given))
        except (LookupError, ValueError) as error:
            return as_json({"detail": str(error)}, status_code=400)

    async def obey(self, command: str, given: dict[str, Any]) -> Any:
        if command not in (known := self.commands()):
            raise LookupError(f"There is no /__{command}. There are: {', '.join(known)}.")
        self.timeline.catch_up()
        return await known[command](given)

    async def tell_log(self, given: dict[str, Any]) -> Any:
        """With `at_least` it waits for so many calls."""
        call = str(given.get("call", ""))
        at_least, patience = int(given.get("at_least", 0)), float(given.get("wait_s", LONGEST_WAIT_S))
        try:
            async with asyncio.timeout(patience):
                await self.journal.until(call, at_least)
        except TimeoutError as error:
            raise ValueError(f"{len(self.journal.of(call))} of {at_least} {call} calls came in {patience} s") from error
        return [asdict(entry) for entry in self.journal.of(call)]

    async def take_scenario(self, given: dict[str, Any]) -> Any:
        self.script.add(given)

    async def take_reset(self, given: dict[str, Any]) -> Any:
        self.clear()

    async def tell_charges(self, given: dict[str, Any]) -> Any:
        return {**self.charged.shown(), "creations": self.made.shown()}

    async def take_clock(self, given: dict[str, Any]) -> Any:
        if given.get("freeze") is not None:
            self.timeline.freeze() if given["freeze"] else self.timeline.flow()
        self.timeline.advance(float(given.get("advance_s", 0)))
        return {"now": stamp(self.timeline.now(), digits=9)}

    async def take_release(self, given: dict[str, Any]) -> Any:
        self.gates.release(str(given["hold"]))

    async def take_limits(self, given: dict[str, Any]) -> Any:
        bucket = self.throttles[str(given.get("bucket", next(iter(self.throttles))))]
        rate = given.get("per_s")
        bucket.limit(None if rate is None else float(rate), int(given.get("burst", 1)))

    async def tell_rates(self, given: dict[str, Any]) -> Any:
        return {bucket: throttle.shown() for bucket, throttle in self.throttles.items()}


def application(standin: Standin[Any]) -> list[Starlette]:
    first, *others = standin.apps()
    return [Starlette(routes=[*standin.control_routes(), *first]), *(Starlette(routes=routes) for routes in others)]


def object_in(data: bytes) -> dict[str, Any]:
    """Empty when there is none: the provider's own check says what is missing then."""
    try:
        return msgspec.json.decode(data, type=dict[str, Any]) if data else {}
    except msgspec.MsgspecError:
        return {}


def as_json(content: Any, status_code: int = 200, media_type: str = "application/json; charset=UTF-8") -> Response:
    return Response(msgspec.json.encode(content), status_code, media_type=media_type)
