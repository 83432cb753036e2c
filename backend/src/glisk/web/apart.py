"""What takes long is read on a connection of its own, so that nobody else's page waits for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from glisk.engine.link import Link


@asynccontextmanager
async def apart(link: Link) -> AsyncIterator[Link]:
    another = Link(link.url, name="glisk pages")
    try:
        yield another
    finally:
        await another.close()
