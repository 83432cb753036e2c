"""The nodes' one URL, over real HTTP, in the test's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.simulator.nodes import Nodes, Reply
from tests.simulator.weather import Fault


@asynccontextmanager
async def served(nodes: Nodes) -> AsyncIterator[str]:
    """Yields its address."""
    door = Door(nodes)
    server = await asyncio.start_server(door.open, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await door.close()


class Door:
    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.visits: set[asyncio.Task[None]] = set()

    def open(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.create_task(self.serve(reader, writer))
        self.visits.add(visit)
        visit.add_done_callback(self.visits.discard)

    async def close(self) -> None:
        for visit in self.visits:
            visit.cancel()
        await asyncio.gather(*self.visits, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request after another, until somebody hangs up."""
        try:
            while await self.exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()

    async def exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether there may be another on this connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        reply = self.nodes.reply(await reader.readexactly(length_of(head)))
        if reply.fault is Fault.HUNG_UP:
            return False
        if reply.fault is Fault.SILENT:
            await reader.read()  # until the caller has had enough
            return False
        writer.write(as_http(reply))
        await writer.drain()
        return True


def length_of(head: bytes) -> int:
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return next(int(value) for name, _, value in lines if name.lower() == b"content-length")


def as_http(reply: Reply) -> bytes:
    retry = b"Retry-After: 0\r\n" if reply.status == 429 else b""
    head = (
        f"HTTP/1.1 {reply.status} As it is\r\nContent-Type: application/json\r\nContent-Length: {len(reply.body)}\r\n"
    )
    return head.encode() + retry + b"\r\n" + reply.body
