"""Puts the parts together that answer over HTTP: everything in one process, or the server alone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial

from glisk.api import ipfs, metadata, server, webhooks
from glisk.api.app import create_app
from glisk.chain import waking
from glisk.db import migrate
from glisk.db.server import check, require_head
from glisk.dev import data_dir
from glisk.engine import wakeup
from glisk.engine.link import Link
from glisk.service import Say, database, prepare_objects, timed, where_database
from glisk.settings import Settings
from glisk.storage.ipfs.blocks import Blocks
from glisk.storage.objects import Objects
from glisk.values import text


def up(settings: Settings, say: Say) -> None:
    """Everything in one process, until a signal."""
    with (
        data_dir.owned(settings.data_dir),
        server.listening(settings.host, settings.port) as listener,
        timed(say, where_database(settings)) as done,
        database(settings) as url,
    ):
        asyncio.run(check(url))
        done()
        with timed(say, "schema up to date") as done:
            migrate.upgrade(url)
            done()
        data_dir.remember_real_parts(settings)
        run_server(settings, url, listener, say)


def serve(settings: Settings, say: Say) -> None:
    """The HTTP server alone, on a schema that somebody else has migrated."""
    with server.listening(settings.host, settings.port) as listener, database(settings) as url:
        asyncio.run(require_head(url))
        run_server(settings, url, listener, say)


def run_server(settings: Settings, url: str, listener: socket.socket, say: Say) -> None:
    with timed(say, f"http://{settings.host}:{settings.port} (Ctrl-C stops)") as done:
        asyncio.run(answer(settings, url, listener, done))


async def answer(settings: Settings, url: str, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    link = Link(url)
    prepare_objects(settings)
    objects = Objects.of(settings)
    app = create_app(
        objects,
        ipfs.router(Blocks.of(settings)),
        metadata.router(link, objects, settings, reveals=settings.reveals),
        webhooks.replicate(text(settings.replicate_webhook_secret), partial(wakeup.tell, link.fetch)),
        webhooks.alchemy(text(settings.alchemy_signing_key), partial(waking.wake, link.fetch)),
    )
    try:
        await server.serve(app, listener, on_ready)
    finally:
        await link.close()
