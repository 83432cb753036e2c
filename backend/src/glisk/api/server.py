"""Serves the HTTP application until a signal asks to stop."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import uvicorn
from fastapi import FastAPI

from glisk.api.connections import Connections
from glisk.errors import PortTaken, UnusableAddress

Listener: TypeAlias = socket.socket
OnReady: TypeAlias = Callable[[], object]

UNSENT = 16 << 10  # bytes
TICK_S = 1.0
PATIENCE_S = 10  # for somebody who takes what they asked for slowly, or not at all


def listening(host: str, port: int) -> Listener:
    """Bound before anything else starts, so that a taken port is told at once."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a kept connection answers 40 ms late
        keep_little_unsent(listener)
        return listener
    except OSError as error:
        kind = PortTaken if error.errno == errno.EADDRINUSE else UnusableAddress
        why = (error.strerror or str(error)).partition(" (while ")[0]  # what follows repeats the address
        raise kind(f"It is {host}:{port} ({why}).") from error


def keep_little_unsent(listener: Listener) -> None:
    """What the kernel has taken from us and not sent yet looks to us as if it had arrived. Where it can be told to take little."""
    with suppress(AttributeError, OSError):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)


def on_stop(app: FastAPI, end: Callable[[], None]) -> None:
    """`end` is for answers that would not end by themselves."""
    app.state.ends = [*getattr(app.state, "ends", ()), end]


async def serve(app: FastAPI, listener: Listener, on_ready: OnReady) -> None:
    server, loop = Server(app, on_ready), asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, server.asked)
    await server.serve(sockets=[listener])


class Server(uvicorn.Server):
    def __init__(self, app: FastAPI, on_ready: OnReady) -> None:
        heard = getattr(app.state, "connections", Connections()).protocol()
        options: dict[str, Any] = {"log_config": None, "access_log": False, "timeout_graceful_shutdown": PATIENCE_S}
        super().__init__(uvicorn.Config(app, http=heard, **options))
        self.app, self.on_ready, self.stopping = app, on_ready, asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn raises the signal again when it has ended; ours means a clean end of everything."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.on_ready()

    async def main_loop(self) -> None:
        """uvicorn looks ten times a second whether it is to stop; we are told. The date in its answers changes with each tick."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self.stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answers that would go on for ever are ended first: it waits for all of them."""
        for end in getattr(self.app.state, "ends", ()):
            end()
        await super().shutdown(sockets)

    def asked(self) -> None:
        """The first signal lets open requests finish. The second ends us at once: nothing is lost by that, since the
        database is a process of its own and stops by itself."""
        if self.should_exit:
            os._exit(130)
        self.stop()

    def stop(self) -> None:
        self.should_exit = True
        self.stopping.set()
