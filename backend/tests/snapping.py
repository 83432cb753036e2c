"""A proxy before a server that snaps the connection in the middle of an answer, as a network would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Snapping:
    """The next answers to what is asked for by `line` end after so many bytes, and then so many times."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port, self.address = host, port, ""
        self.line, self.after, self.times = b"", 0, 0

    def snap(self, line: str, *, after: int, times: int = 1) -> None:
        self.line, self.after, self.times = line.encode(), after, times

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request a connection, so that we need not know where it ends."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            behind, server = await asyncio.open_connection(self.host, self.port)
            server.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            onwards = asyncio.create_task(pump(reader, server))
            await self.back(head, behind, writer)
            onwards.cancel()
            await asyncio.gather(onwards, return_exceptions=True)
            server.close()
        writer.close()

    async def back(self, head: bytes, behind: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_snapped = self.times > 0 and head.startswith(self.line)
        self.times -= is_snapped
        left = self.after if is_snapped else 1 << 40
        while left and (chunk := await behind.read(min(left, 65_536))):
            writer.write(chunk)
            await writer.drain()
            left -= len(chunk)
        if is_snapped:
            writer.transport.abort()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65_536):
        writer.write(chunk)
        await writer.drain()


@asynccontextmanager
async def snapping(address: str) -> AsyncIterator[Snapping]:
    parts = urlsplit(address)
    proxy, calls = Snapping(parts.hostname or "", parts.port or 0), set[asyncio.Task[None]]()

    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.add(call := asyncio.create_task(proxy.serve(reader, writer)))
        call.add_done_callback(calls.discard)

    async with await asyncio.start_server(answered, "127.0.0.1", 0) as server:
        proxy.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield proxy
        for call in list(calls):
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
