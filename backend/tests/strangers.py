"""Somebody's server, which answers with whatever bytes a test wants, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from ssl import SSLContext, SSLError
from typing import TypeAlias

from glisk.networks import Address, Allowed, allowed_in

Says: TypeAlias = Callable[[asyncio.StreamWriter], Awaitable[None]]

HERE = allowed_in("127.0.0.0/8")
NOBODY = Allowed()


@dataclass
class Stranger:
    port: int = 0
    answers: dict[str, bytes | Says] = field(default_factory=dict)
    heads: list[bytes] = field(default_factory=list)
    open: set[asyncio.Task[None] | None] = field(default_factory=set)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            says = self.answers[head.split()[1].decode()]
            await (says(writer) if callable(says) else written(writer, says))
        writer.close()
        with suppress(ConnectionError, SSLError):
            await writer.wait_closed()
        self.open.discard(asyncio.current_task())

    async def ended(self) -> None:
        for task in (left := [task for task in self.open if task]):
            task.cancel()
        await asyncio.gather(*left)


async def written(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


@asynccontextmanager
async def stranger(certificate: SSLContext | None = None) -> AsyncIterator[Stranger]:
    found = Stranger()
    async with await asyncio.start_server(found.serve, "127.0.0.1", 0, ssl=certificate) as server:
        found.port = server.sockets[0].getsockname()[1]
        yield found
        server.close()
        await found.ended()


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    named = {"content-length": str(len(body)), **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in named.items()), "", ""]
    return "\r\n".join(lines).encode() + body


@dataclass
class Names:
    """A name server of the stranger's: each name with its answers, one after the other; the last one stays."""

    told: dict[str, list[str]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        self.asked.append(host)
        answers = self.told[host]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ip_address(each) for each in found.split()]
