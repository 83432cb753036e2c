"""How an error looks over HTTP: its code, what it means, what to do. What was seen goes to the log alone, since it may name
the operator's servers and directories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from glisk.api import unfit
from glisk.engine.link import LinkLost
from glisk.errors import (
    BadCid,
    BadObjectKey,
    BadQuery,
    BodyTooLarge,
    ChainError,
    ConversationMissing,
    ConversationTaken,
    CrossSite,
    DatabaseUnreachable,
    FileMissing,
    GliskError,
    JobMissing,
    KeyRefused,
    KeyReused,
    KeyWanted,
    NonceUsed,
    NotHere,
    NotTheirs,
    ObjectDamaged,
    ObjectMissing,
    OpenJobsFull,
    PageMissing,
    PreviewsSpent,
    ProjectMissing,
    PromptHidden,
    RequestError,
    ResultLost,
    RoleMissing,
    StorageError,
    StrangeHost,
    StreamsFull,
    TokenMissing,
    TooOften,
    UserKeyWanted,
    UserMissing,
    WrongMoment,
)

log = structlog.get_logger()

# The first that fits; any other is our own failure.
STATUSES: dict[type[GliskError], int] = {
    ObjectMissing: 404,
    BadObjectKey: 404,
    BadCid: 400,
    NotHere: 404,
    ObjectDamaged: 500,
    StorageError: 503,
    DatabaseUnreachable: 503,
    ChainError: 503,
    KeyWanted: 401,
    KeyRefused: 401,
    CrossSite: 403,
    StrangeHost: 403,
    TokenMissing: 404,
    PageMissing: 404,
    **dict.fromkeys((JobMissing, FileMissing, ProjectMissing, ConversationMissing, UserMissing), 404),
    UserKeyWanted: 401,
    NotTheirs: 403,
    TooOften: 429,
    OpenJobsFull: 429,
    PreviewsSpent: 429,
    KeyReused: 409,
    ConversationTaken: 409,
    WrongMoment: 409,
    ResultLost: 500,
    RoleMissing: 503,
    PromptHidden: 404,
    StreamsFull: 503,
    NonceUsed: 409,
    BodyTooLarge: 413,
    RequestError: 400,
}


JSON = "application/json"
# Pages of any site may read what is told here, and why it is not.
OPEN_TO_ALL = ("/ipfs/", "/metadata/")


class Problem(BaseModel):
    """What went wrong, what it means, and what to do."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "code": "GLK-805",
                "message": "There is no such token.",
                "remedy": "Check its id, and its collection if there are several.",
            }
        }
    )

    code: str
    message: str
    remedy: str


def install(app: FastAPI) -> None:
    """Whatever goes wrong looks the same: our own errors, what FastAPI finds wrong with a request, and what is not there."""
    app.add_exception_handler(GliskError, answer)
    app.add_exception_handler(LinkLost, answer_lost)
    app.add_exception_handler(RequestValidationError, answer_unfit)
    app.add_exception_handler(HTTPException, answer_missing)
    app.add_exception_handler(ClientDisconnect, answer_nobody)


async def answer(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, GliskError)
    status = status_of(error)
    if status >= 500 and not isinstance(error, RequestError):
        log.error("could not answer", path=request.url.path, status=status, code=error.code, error=str(error))
    wait = {"Retry-After": str(math.ceil(error.after))} if isinstance(error, TooOften) else {}
    return as_json(request, error, status, **wait)


async def answer_lost(request: Request, error: Exception) -> JSONResponse:
    return await answer(request, DatabaseUnreachable(str(error)))


async def answer_nobody(_: Request, __: Exception) -> Response:
    """They left in the middle of what they sent: no mistake of ours, and nobody is there to hear of it."""
    return Response(status_code=400)


async def answer_unfit(request: Request, error: Exception) -> JSONResponse:
    """The parts by name: `limit: a whole number is wanted`."""
    assert isinstance(error, RequestValidationError)
    return as_json(request, BadQuery(f"{'; '.join(map(unfit.parameter, error.errors()))}."), 400)


async def answer_missing(request: Request, error: Exception) -> JSONResponse:
    """No such address, or not for this method."""
    assert isinstance(error, HTTPException)
    told = PageMissing() if error.status_code == 404 else BadQuery(f"{error.detail}: {request.method}.")
    return as_json(request, told, error.status_code, **(error.headers or {}))


def as_json(request: Request, error: GliskError, status: int, **headers: str) -> JSONResponse:
    open_to_all = {"Access-Control-Allow-Origin": "*"} if request.url.path.startswith(OPEN_TO_ALL) else {}
    problem = Problem(code=error.code, message=told(error), remedy=error.fix)
    return JSONResponse(problem.model_dump(), status, {"Cache-Control": "no-store", **open_to_all, **headers})


def responses(*errors: type[GliskError]) -> dict[int | str, dict[str, Any]]:
    """For OpenAPI: which statuses a route can answer with, and why."""
    return {status: {"model": Problem, **told} for status, told in grouped(errors).items()}


def described(*errors: type[GliskError]) -> dict[int | str, dict[str, Any]]:
    """The same, for a document that FastAPI has written already."""
    answers = grouped(errors)
    for told in answers.values():
        told["content"][JSON]["schema"] = {"$ref": "#/components/schemas/Problem"}
    return answers


def grouped(errors: Sequence[type[GliskError]]) -> dict[int | str, dict[str, Any]]:
    answers = dict[int | str, dict[str, Any]]()
    for error in errors:
        told = answers.setdefault(status_of(error()), {"description": "", "content": {JSON: {"examples": {}}}})
        told["description"] = f"{told['description']} {error.code}: {error.summary}".strip()
        problem = {"code": error.code, "message": error.summary, "remedy": error.remedy}
        told["content"][JSON]["examples"][error.code] = {"value": problem}
    return answers


def status_of(error: GliskError) -> int:
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


def told(error: GliskError) -> str:
    """Of what is wrong with a request whoever made it may know all."""
    return str(error) if isinstance(error, RequestError) else error.summary
