"""Everything in one process: what is not set is embedded. Parts come up one after the other, and go down together."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from typing import Any, TypeAlias

from glisk import addresses, following, hosting, processors, service
from glisk.api import access, server
from glisk.chain.sending import keepers
from glisk.db import migrate
from glisk.db.server import check
from glisk.dev import data_dir
from glisk.dev.collector import Collector
from glisk.engine.link import Link
from glisk.engine.worker import Pace, Worker
from glisk.errors import DiskFull
from glisk.hosting import Home
from glisk.repositories.summary_board import Summary, SummaryBoard
from glisk.service import Say, timed
from glisk.settings import Settings
from glisk.values import text
from glisk.workers import process
from glisk.workers.scaling import Size
from glisk.workers.signals import INTERRUPTED, on_signals
from glisk.workers.staffing import Crew, make_lanes, stations
from glisk.workflows import WORKFLOWS

Show: TypeAlias = Callable[[Callable[[], Awaitable[Summary]]], Coroutine[Any, Any, None]]

Tell: TypeAlias = Callable[[str], object]

ROOM = 256 << 20  # bytes on the disk, without which nothing would work for long
# Of a machine on which everything runs; after a crash, whoever starts it again waits for the leases to expire.
SHARE = Pace(concurrency=50, batch=25, lease=timedelta(seconds=10))


def up(settings: Settings, say: Say, show: Show, tell: Tell, *, mints: bool) -> None:
    """Until a signal. `tell`: what becomes of it then. What can be refused is, before anything is made on the disk."""
    with ExitStack() as stack:
        data_dir.require_idle(settings.data_dir)
        keepers.require_key(settings)
        listener = stack.enter_context(server.listening(settings.host, settings.port))
        stack.enter_context(data_dir.owned(settings.data_dir))
        require_room(settings)
        home = stack.enter_context(furnished(settings, say))
        data_dir.remember_real_parts(settings)
        asyncio.run(live(home, listener, say, show, tell, mints=mints))


def require_room(settings: Settings) -> None:
    if (free := shutil.disk_usage(settings.data_dir).free) < ROOM:
        raise DiskFull(f"{settings.shown_dir} has {free >> 20} MB left.")


@contextmanager
def furnished(settings: Settings, say: Say) -> Iterator[Home]:
    """A database with our schema, and a chain: what everything else stands on."""
    with ExitStack() as stack:
        with timed(say, service.where_database(settings)) as done:
            url = stack.enter_context(service.database(settings))
            asyncio.run(check(url))
            done()
        with timed(say, "schema up to date") as done:
            logging.getLogger(migrate.__name__).setLevel(logging.WARNING)  # one line for a part, not for a revision
            migrate.upgrade(url)
            done()
        with timed(say, following.where_chain(settings)) as done:
            filled = stack.enter_context(following.with_chain(settings))
            done()
        yield Home(settings, filled, url)


async def live(home: Home, listener: socket.socket, say: Say, show: Show, tell: Tell, *, mints: bool) -> None:
    await hosting.require_key(home)
    service.prepare_objects(home.settings)
    crew, link = crew_of(home.filled), Link(home.url)
    await make_lanes(link, crew.staff)
    worker = service.worker_of(home.filled, home.url, crew, process.name_of(os.getpid()))
    async with hosting.application(home) as app:
        is_up = asyncio.Event()
        with timed(say, f"{home.settings.address} (Ctrl-C stops)") as done:
            website = server.Server(app, partial(each, done, is_up.set))
        stays = [
            following.follow(home.url, following.source_in(home.filled), quiet),
            after(is_up, show(SummaryBoard(link).now)),
            *([after(is_up, collector(home).run())] if mints and is_embedded(home) else []),
        ]
        works = [
            process.working(worker, partial(service.timetable, home.filled, crew), crew.close),
            website.serve(sockets=[listener]),
        ]
        try:
            await until_asked(works, stays, partial(let_go, worker, website, tell))
        finally:
            await link.close()


def each(*actions: Callable[[], None]) -> None:
    for action in actions:
        action()


async def after(event: asyncio.Event, then: Coroutine[Any, Any, None]) -> None:
    try:
        await event.wait()
        await then
    finally:
        then.close()  # where it never came to that


def crew_of(settings: Settings) -> Crew:
    """At every step that somebody here can do."""
    kinds = processors.known()
    flows = [flow for flow in WORKFLOWS.values() if all(step.process in kinds for step in flow.steps.values())]
    served = [process for process in kinds if process != "revealing" or settings.reveals]
    return Crew(stations(flows, WORKFLOWS.values(), kinds, settings, served), SHARE, Size(1, 1))


def is_embedded(home: Home) -> bool:
    return not text(home.settings.rpc_urls)


def collector(home: Home) -> Collector:
    """Asks us on this machine, however the world does."""
    (node, *_), ((_, contract),) = (
        addresses.nodes_in(text(home.filled.rpc_urls)),
        addresses.contracts_in(home.filled.contracts),
    )
    host = home.settings.host if access.is_loopback(home.settings.host) else "127.0.0.1"
    return Collector(node, f"http://{f'[{host}]' if ':' in host else host}:{home.settings.port}", contract)


def let_go(worker: Worker, website: server.Server, tell: Tell) -> None:
    tell(f"Stopping, with {len(worker.claims)} under way to finish. Ctrl-C again ends at once, and loses nothing.")
    worker.stop()
    website.stop()


async def until_asked(
    works: list[Coroutine[Any, Any, None]], stays: list[Coroutine[Any, Any, None]], let_go: Callable[[], None]
) -> None:
    """Until a signal, or until one part breaks. Those at work finish what they have; those that only watch are cancelled."""
    asked, loop = asyncio.Event(), asyncio.get_running_loop()
    on_signals(
        partial(process.ask, partial(loop.call_soon_threadsafe, asked.set), SHARE), partial(os._exit, INTERRUPTED)
    )
    working, staying = [[asyncio.create_task(one) for one in some] for some in (works, stays)]
    waiting = asyncio.create_task(asked.wait())
    await asyncio.wait([waiting, *working, *staying], return_when=asyncio.FIRST_COMPLETED)
    let_go()
    for task in (waiting, *staying):
        task.cancel()
    ended = await asyncio.gather(*working, *staying, return_exceptions=True)
    for broken in (one for one in ended if isinstance(one, BaseException)):
        if not isinstance(broken, asyncio.CancelledError):
            raise broken


def quiet(part: str, seconds: float) -> None:
    """That it follows the contract shows in the numbers."""
