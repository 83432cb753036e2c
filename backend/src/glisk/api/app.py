"""The HTTP application: every router is mounted here."""

from __future__ import annotations

from fastapi import FastAPI
from pydantic import BaseModel

from glisk import __version__
from glisk.api import objects, refusal, webhooks
from glisk.api.webhooks import Tell
from glisk.errors import GliskError
from glisk.storage.objects import Objects


class Health(BaseModel):
    status: str
    version: str


def create_app(stored: Objects, webhook_secret: str, tell: Tell) -> FastAPI:
    """`tell`: that there is news of an order, to whoever placed it."""
    app = FastAPI(title="Glisk", version=__version__, summary="Every mint becomes art.")
    app.add_api_route("/health", health, methods=["GET"], response_model=Health, tags=["operations"])
    app.include_router(objects.router(stored))
    app.include_router(webhooks.router(webhook_secret, tell))
    app.add_exception_handler(GliskError, refusal.answer)
    return app


async def health() -> Health:
    """Answers while the process lives; it asks no other part."""
    return Health(status="ok", version=__version__)
