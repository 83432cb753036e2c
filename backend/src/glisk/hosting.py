"""Puts the parts together that answer over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from fastapi import FastAPI

from glisk import addresses, doctor
from glisk.api import (
    access,
    authors,
    conversations,
    events,
    files,
    ipfs,
    jobs,
    metadata,
    operations,
    previews,
    projects,
    results,
    seeing,
    server,
    tokens,
    webhooks,
)
from glisk.api import job_watch as watching_jobs
from glisk.api import stream as streaming
from glisk.api.access import Door
from glisk.api.app import create_app
from glisk.api.connections import Connections
from glisk.api.forms import MB
from glisk.api.given import Pictures
from glisk.api.job_watch import JobWatch
from glisk.api.project_desk import Desk
from glisk.api.project_watch import ProjectWatch
from glisk.api.stream import Stream
from glisk.chain import waking
from glisk.chain.wallet_check import WalletCheck
from glisk.db.server import require_head
from glisk.engine import wakeup
from glisk.engine.link import Link
from glisk.errors import OpenToTheWorld
from glisk.providers import chosen
from glisk.repositories.job_view import JobView
from glisk.repositories.key_repository import KeyRepository
from glisk.repositories.own import Own
from glisk.repositories.project_repository import ProjectRepository
from glisk.repositories.studio_jobs import StudioJobs
from glisk.service import Say, database, prepare_objects, timed
from glisk.settings import Settings
from glisk.storage.ipfs.blocks import Blocks
from glisk.storage.objects import Objects
from glisk.telling.running import telling
from glisk.values import text
from glisk.web import pages, problems
from glisk.web.site import Site

READERS = 4  # connections to the database, for those who ask at once


@dataclass(frozen=True, slots=True)
class Home:
    """`settings` as the operator gave them; `filled`, with the embedded chain in them if there is no other."""

    settings: Settings
    filled: Settings
    url: str


def serve(settings: Settings, say: Say) -> None:
    """The HTTP server alone, on a schema that somebody else has migrated."""
    with server.listening(settings.host, settings.port) as listener, database(settings) as url:
        asyncio.run(require_head(url))
        prepare_objects(settings)
        with timed(say, f"{settings.address} (Ctrl-C stops)") as done:
            asyncio.run(answer(Home(settings, settings, url), listener, done))


async def answer(home: Home, listener: server.Listener, on_ready: server.OnReady) -> None:
    await require_key(home)
    async with application(home) as app:
        await server.serve(app, listener, on_ready)


async def require_key(home: Home) -> None:
    """Before the world can reach us there must be somebody who may do more than the world."""
    if access.is_local(home.settings):
        return
    link = Link(home.url)
    try:
        if not await KeyRepository(link).has_operator():
            raise OpenToTheWorld(f"It is {home.settings.address}.")
    finally:
        await link.close()


@asynccontextmanager
async def application(home: Home) -> AsyncIterator[FastAPI]:
    """With what runs behind it."""
    link, watch = Link(home.url), Link(home.url, patience=operations.PATIENCE_S, name="glisk operations")
    check, own = (
        WalletCheck(addresses.nodes_in(text(home.filled.rpc_urls))),
        Own([Link(home.url) for _ in range(READERS)]),
    )
    try:
        async with (
            streaming.running(home.url) as stream,
            watching_jobs.running(home.url, JobView(own)) as watched,
            telling(home.url, home.settings),
        ):
            door = Door(KeyRepository(link), access.is_local(home.settings))
            app = assembled(home, door, own, link, watch, stream, check)
            open_studio(app, home, door, own, watched, link)
            yield app
    finally:
        await check.close()
        await own.close()
        await watch.close()
        await link.close()


def assembled(home: Home, door: Door, own: Own, link: Link, watch: Link, stream: Stream, check: WalletCheck) -> FastAPI:
    """`watch` is for who wants to know how it goes while others wait."""
    settings = home.filled
    objects = Objects.of(settings)
    examine = partial(doctor.examine, home.settings, home.url, home.filled)
    site = Site(link, home.settings, door, objects, stream, examine)
    app = create_app(
        objects,
        ipfs.router(Blocks.of(settings), seeing.cids(link, door, reveals=settings.reveals)),
        metadata.router(link, objects, settings, reveals=settings.reveals),
        tokens.router(link, settings, door),
        events.router(stream, door, link, settings),
        operations.router(watch, settings, door, lambda: len(stream.followers)),
        authors.router(link, settings, door, check),
        webhooks.replicate(text(settings.replicate_webhook_secret), partial(wakeup.tell, link.fetch)),
        webhooks.alchemy(text(settings.alchemy_signing_key), partial(waking.wake, link.fetch)),
        pages.router(site),
        may_see=seeing.objects(link, door, own, reveals=settings.reveals),
    )
    app.add_exception_handler(404, problems.not_found(site))
    app.add_middleware(access.Guard, hosts=access.known_hosts(home.settings))
    server.on_stop(app, stream.stop)
    return app


def open_studio(app: FastAPI, home: Home, door: Door, own: Own, watched: JobWatch, link: Link) -> None:
    """What people ask for over HTTP, each seeing what is theirs."""
    grace = timedelta(seconds=home.settings.result_grace)
    app.state.connections = Connections()
    studio_jobs = StudioJobs(own, link, home.settings.open_jobs)
    app.include_router(jobs.router(own, studio_jobs, watched, door))
    app.include_router(results.router(own, Objects.of(home.filled), door, app.state.connections, grace))
    terms = previews.Terms(chosen.estimate(home.filled), home.settings.preview_daily_limit)
    app.include_router(previews.router(link, Objects.of(home.filled), door, terms))
    app.include_router(files.router(own, Objects.of(home.filled), door, app.state.connections, home.settings))
    app.include_router(conversations.router(own, door))
    server.on_stop(app, watched.stop)
    open_projects(app, home, door, own, studio_jobs, link)


def open_projects(app: FastAPI, home: Home, door: Door, own: Own, studio_jobs: StudioJobs, link: Link) -> None:
    settings, may_see = home.settings, seeing.objects(link, door, own, reveals=home.filled.reveals)
    pictures = Pictures(own, Objects.of(home.filled), may_see, settings.upload_file_mb * MB, settings.address)
    repository = ProjectRepository(own)
    watched = ProjectWatch(repository, settings.address)
    app.include_router(projects.router(Desk(repository, studio_jobs, pictures, door, settings), watched))
    server.on_stop(app, watched.stop)
