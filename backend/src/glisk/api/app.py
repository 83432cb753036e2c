"""The HTTP application: every router is mounted here."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from pydantic import BaseModel

from glisk import __version__
from glisk.api import objects, refusal
from glisk.api.describing import Described
from glisk.api.heads import Heads
from glisk.api.seeing import MaySee, by_everybody
from glisk.api.stalled import Stalled
from glisk.storage.objects import Objects


class Health(BaseModel):
    status: str
    version: str


def create_app(stored: Objects, *further: APIRouter, may_see: MaySee = by_everybody) -> FastAPI:
    """`further`: the routes that need somebody behind them, like webhooks."""
    app = Described(
        title="Glisk",
        version=__version__,
        summary="Every mint becomes art.",
        docs_url=None,  # it would come from elsewhere: /docs is a page of ours
        redoc_url=None,
    )
    app.add_api_route("/health", health, methods=["GET"], response_model=Health, tags=["operations"])
    for routes in (objects.router(stored, may_see), *further):
        app.include_router(routes)
    refusal.install(app)
    app.add_middleware(Heads)
    app.add_middleware(Stalled)
    return app


async def health() -> Health:
    """Answers while the process lives; it asks no other part."""
    return Health(status="ok", version=__version__)
