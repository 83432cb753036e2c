"""Stands in for Automatic1111's web UI: its txt2img with its answers and its errors, painted by the studio."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from base64 import b64encode
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security import HTTPBasic
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from glisk.providers.port import Order
from glisk.providers.studio.painter import painted

SAMPLERS = ("Euler", "Euler a", "DPM++ 2M", "DPM++ 2M Karras")
CHALLENGE = {"WWW-Authenticate": "Basic"}


class Wanted(BaseModel):
    """The part of its order that we use, with its defaults."""

    prompt: str = ""
    seed: int = -1
    width: int = Field(default=512, ge=64, le=2048)
    height: int = Field(default=512, ge=64, le=2048)
    steps: int = Field(default=50, ge=1, le=150)
    sampler_name: str | None = None
    override_settings: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class Fault:
    """What the next call gets instead of a picture."""

    status: int = 200
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False  # the connection ends in the middle of it
    is_mute: bool = False  # nothing ever comes


def told(status: int, error: str, detail: str = "", errors: str = "", **headers: str) -> Fault:
    """An error in its own words."""
    content = json.dumps({"error": error, "detail": detail, "body": "", "errors": errors}).encode()
    return Fault(status, content, {"Content-Type": "application/json", **headers})


class StandIn:
    """`orders` is what was asked, in order; `faults` is what goes wrong next."""

    def __init__(self, username: str = "", password: str = "") -> None:
        self.credentials = (username, password) if username else None
        self.orders: list[Wanted] = []
        self.faults: deque[Fault] = deque()
        self.app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        self.app.add_api_route("/sdapi/v1/txt2img", self.txt2img, methods=["POST"])
        self.app.add_exception_handler(HTTPException, in_its_words)

    async def txt2img(self, request: Request, wanted: Wanted) -> Response:
        await self.let_in(request)
        self.orders.append(wanted)
        if self.faults:
            return await gone_wrong(self.faults.popleft())
        if wanted.sampler_name not in (None, *SAMPLERS):
            raise HTTPException(404, "Sampler not found")
        data = await asyncio.to_thread(painted, Order(wanted.prompt, wanted.seed, wanted.width, wanted.height))
        return JSONResponse(answer(wanted, data))

    async def let_in(self, request: Request) -> None:
        given = await HTTPBasic(auto_error=False)(request)
        if self.credentials and not (given and same((given.username, given.password), self.credentials)):
            raise HTTPException(401, "Incorrect username or password", CHALLENGE)


def same(given: tuple[str, str], wanted: tuple[str, str]) -> bool:
    return all(secrets.compare_digest(one.encode(), other.encode()) for one, other in zip(given, wanted, strict=True))


def answer(wanted: Wanted, data: bytes) -> dict[str, object]:
    """`info` is JSON inside a string, as the real one has it."""
    info = {"prompt": wanted.prompt, "seed": wanted.seed, "steps": wanted.steps, "sd_model_name": "studio-1"}
    return {"images": [b64encode(data).decode()], "parameters": wanted.model_dump(), "info": json.dumps(info)}


async def gone_wrong(fault: Fault) -> Response:
    if fault.is_mute:
        await asyncio.Event().wait()
    headers = dict(fault.headers)
    if fault.is_cut:
        return StreamingResponse(iter([fault.content]), fault.status, {**headers, "Content-Length": "1000000"})
    return Response(fault.content, fault.status, headers)


async def in_its_words(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    fault = told(error.status_code, "HTTPException", error.detail)
    return Response(fault.content, fault.status, {**fault.headers, **(error.headers or {})})


class Quiet(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The signals are those of the program we run in."""
        yield


@asynccontextmanager
async def serving(stand_in: StandIn) -> AsyncIterator[str]:
    """Its address, while it is served on a free port of this machine. The port listens at once: who is early waits in line."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Quiet(uvicorn.Config(stand_in.app, log_config=None, timeout_graceful_shutdown=0))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await task
