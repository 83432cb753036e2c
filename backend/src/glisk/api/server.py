"""Serves the HTTP application until a signal asks to stop."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from glisk.errors import PortTaken, UnusableAddress


def listening(host: str, port: int) -> socket.socket:
    """Bound before anything else starts, so that a taken port is told at once."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a kept connection answers 40 ms late
        return listener
    except OSError as error:
        kind = PortTaken if error.errno == errno.EADDRINUSE else UnusableAddress
        raise kind(f"It is {host}:{port} ({error.strerror or error}).") from error


async def serve(app: FastAPI, listener: socket.socket, on_ready: Callable[[], None]) -> None:
    server = Server(uvicorn.Config(app, log_config=None, access_log=False), on_ready)
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, server.stop)
    await server.serve(sockets=[listener])


class Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.on_ready = on_ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn raises the signal again when it has ended; ours means a clean end of everything."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.on_ready()

    def stop(self) -> None:
        """The first signal lets open requests finish. The second ends us at once: nothing is lost by that, since the
        database is a process of its own and stops by itself."""
        if self.should_exit:
            os._exit(130)
        self.should_exit = True
