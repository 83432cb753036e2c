"""A proxy before PostgreSQL that breaks a connection around a statement of our choice, as the network would."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

IDLE = b"I"  # what the server says between transactions


class Moment(StrEnum):
    BEFORE = "before it"  # it never arrives
    AFTER = "after it"  # it ran, its answer is lost; with its transaction, if it was in one
    COMMITTED = "after its commit"  # it ran and stands, and nobody was told
    SLOW = "late"  # it ran, and its answer comes when we let it


class Cutter:
    """Cuts the first connection that runs one of these texts; all others pass. In a thread of its own, so that whoever
    blocks the event loop of the test does not look like a silent server."""

    def __init__(self, server: SplitResult) -> None:
        self.server = server
        self.texts, self.moment, self.is_armed = set[str](), Moment.BEFORE, False
        self.calls: set[asyncio.Task[None]] = set()
        self.loop, self.has_cut = asyncio.get_running_loop(), asyncio.Event()
        self.is_let_go = threading.Event()

    def aim(self, texts: set[str], moment: Moment) -> None:
        self.texts, self.moment, self.is_armed = texts, moment, True

    def tell(self) -> None:
        self.loop.call_soon_threadsafe(self.has_cut.set)

    async def run(self, door: socket.socket) -> None:
        """Until the door is shut and everybody has hung up."""
        while caller := await accepted(door):
            self.calls.add(call := asyncio.create_task(self.serve(caller)))
            call.add_done_callback(self.calls.discard)
        await asyncio.gather(*self.calls, return_exceptions=True)

    async def serve(self, caller: socket.socket) -> None:
        """Until one way ends; then both do."""
        with caller, socket.socket() as far:
            for end in (caller, far):
                end.setblocking(False)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each small packet waits 40 ms
            await asyncio.get_running_loop().sock_connect(far, (self.server.hostname, self.server.port))
            line = Line(self)
            ways = [asyncio.create_task(way) for way in (line.ask(caller, far), line.answer(far, caller))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)


class Line:
    """One connection. Each way ends at its cut, or when somebody hangs up."""

    def __init__(self, cutter: Cutter) -> None:
        self.cutter = cutter
        self.prepared: dict[bytes, str] = {}
        self.is_marked = False  # what we aim at is under way on this connection

    async def ask(self, caller: socket.socket, far: socket.socket) -> None:
        await send(far, await packet(caller))  # the start-up has no kind
        while True:
            kind, whole = await exactly(caller, 1), await packet(caller)
            if self.is_cut_before(kind, whole[4:]):
                return self.cutter.tell()
            await send(far, kind + whole)

    def is_cut_before(self, kind: bytes, body: bytes) -> bool:
        first, second, *_ = [*body.split(b"\0", 2), b""]
        if kind == b"P":
            self.prepared[first] = second.decode()
        if kind == b"B" and self.cutter.is_armed and self.prepared.get(second) in self.cutter.texts:
            self.cutter.is_armed, self.is_marked = False, True
        return self.is_marked and self.cutter.moment is Moment.BEFORE

    async def answer(self, far: socket.socket, caller: socket.socket) -> None:
        while True:
            kind, whole = await exactly(far, 1), await packet(far)
            if self.is_marked and self.cutter.moment is Moment.SLOW:
                self.cutter.tell()
                await asyncio.to_thread(self.cutter.is_let_go.wait)
                self.is_marked = False
            if kind == b"Z" and self.is_marked and (self.cutter.moment is Moment.AFTER or whole[4:] == IDLE):
                return self.cutter.tell()
            await send(caller, kind + whole)


async def accepted(door: socket.socket) -> socket.socket | None:
    try:
        return (await asyncio.get_running_loop().sock_accept(door))[0]
    except OSError:
        return None


async def packet(sender: socket.socket) -> bytes:
    length = await exactly(sender, 4)
    return length + await exactly(sender, struct.unpack(">I", length)[0] - 4)


async def exactly(sender: socket.socket, n: int) -> bytes:
    read = b""
    while len(read) < n:
        part = await asyncio.get_running_loop().sock_recv(sender, n - len(read))
        if not part:
            raise ConnectionResetError
        read += part
    return read


async def send(receiver: socket.socket, data: bytes) -> None:
    await asyncio.get_running_loop().sock_sendall(receiver, data)


@asynccontextmanager
async def cutter_before(url: str) -> AsyncIterator[tuple[Cutter, str]]:
    """The proxy, and the URL that leads through it. Unencrypted: it has to read along."""
    parts = urlsplit(url)
    cutter = Cutter(parts)
    door = socket.create_server(("127.0.0.1", 0), backlog=100)
    door.setblocking(False)
    thread = threading.Thread(target=lambda: asyncio.run(cutter.run(door)), name="cutter")
    thread.start()
    netloc = f"{parts.username}:{parts.password}@127.0.0.1:{door.getsockname()[1]}"
    try:
        yield cutter, parts._replace(netloc=netloc, query="sslmode=disable").geturl()
    finally:
        door.shutdown(socket.SHUT_RDWR)  # wakes the accept with an error
        await asyncio.to_thread(thread.join)
        door.close()
