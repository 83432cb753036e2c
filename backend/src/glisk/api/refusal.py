"""How an error looks over HTTP: its code, what it means, what to do. What was seen goes to the log alone, since it may name
the operator's servers and directories."""

from __future__ import annotations

import structlog
from fastapi import Request
from fastapi.responses import JSONResponse

from glisk.errors import (
    BadCid,
    BadObjectKey,
    DatabaseUnreachable,
    GliskError,
    NotHere,
    ObjectDamaged,
    ObjectMissing,
    StorageError,
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
}


async def answer(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, GliskError)
    status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)
    if status >= 500:
        log.error("could not answer", path=request.url.path, status=status, code=error.code, error=str(error))
    return JSONResponse(
        {"code": error.code, "message": error.summary, "remedy": error.remedy},
        status,
        {"Cache-Control": "no-store"},
    )
