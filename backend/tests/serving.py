"""An application behind real HTTP, in the test's own event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

from glisk.api.server import Server


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """Yields its address."""
    ready = asyncio.Event()
    server = Server(uvicorn.Config(app, log_config=None, access_log=False), ready.set)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await ready.wait()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await running
