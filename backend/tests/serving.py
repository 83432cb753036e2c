"""An application behind real HTTP, in the test's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from glisk.api.server import Server, listening


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """Yields its address."""
    ready = asyncio.Event()
    server = Server(app, ready.set)
    with listening("127.0.0.1", 0) as listener:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await ready.wait()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.stop()
            await running
