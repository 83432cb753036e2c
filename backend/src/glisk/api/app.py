"""The HTTP application: every router is mounted here."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel

from glisk import __version__
from glisk.api import objects, refusal
from glisk.errors import GliskError
from glisk.storage.objects import Objects


class Health(BaseModel):
    status: str
    version: str


def create_app(stored: Objects, *further: APIRouter) -> FastAPI:
    """`further`: the routes that need somebody behind them, like webhooks."""
    app = FastAPI(title="Glisk", version=__version__, summary="Every mint becomes art.")
    app.add_api_route("/health", health, methods=["GET"], response_model=Health, tags=["operations"])
    for routes in (objects.router(stored), *further):
        app.include_router(routes)
    app.add_exception_handler(GliskError, refusal.answer)
    return app


async def health() -> Health:
    """Answers while the process lives; it asks no other part."""
    return Health(status="ok", version=__version__)
