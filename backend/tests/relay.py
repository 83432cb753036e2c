"""A proxy before a node that stops a question of our choice on its way there, or its answer on the way back, and remembers what was sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, TypeAlias

import httpx
import msgspec

from glisk.chain.rpc.classify import SEND

Question: TypeAlias = dict[str, Any]
Picks: TypeAlias = Callable[[Sequence[Question], bytes], bool]  # by what is asked, and by the answer once there is one

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


class Stop(StrEnum):
    BEFORE = "before the node has it"
    AFTER = "before its answer arrives"


class Relay:
    """Of the questions that are picked the first is stopped; `is_cut`: its connection is closed, otherwise it waits to be let go."""

    def __init__(self, url: str, client: httpx.AsyncClient) -> None:
        self.node, self.client, self.port = url, client, 0
        self.sent: list[bytes] = []  # every transaction that reached the node
        self.picks: Picks | None = None
        self.stop, self.is_cut = Stop.BEFORE, False
        self.has_stopped, self.go_on = asyncio.Event(), asyncio.Event()

    def aim(self, picks: Picks, stop: Stop, *, is_cut: bool = False) -> None:
        self.picks, self.stop, self.is_cut = picks, stop, is_cut
        self.has_stopped, self.go_on = asyncio.Event(), asyncio.Event()

    def let_go(self) -> None:
        self.picks = None
        self.go_on.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one question after the other, until somebody hangs up or it is cut."""
        try:
            while (answer := await self.answer(await body_of(reader))) is not None:
                writer.write(HEAD % len(answer) + answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, httpx.HTTPError):
            pass
        finally:
            writer.close()

    async def answer(self, body: bytes) -> bytes | None:
        """None: it is cut off."""
        found = msgspec.json.decode(body)
        questions = found if isinstance(found, list) else [found]
        if await self.is_cut_off(Stop.BEFORE, questions, b""):
            return None
        self.sent += [bytes.fromhex(each["params"][0][2:]) for each in questions if each["method"] == SEND]
        answer = (await self.client.post(self.node, content=body)).content
        return None if await self.is_cut_off(Stop.AFTER, questions, answer) else answer

    async def is_cut_off(self, stop: Stop, questions: Sequence[Question], answer: bytes) -> bool:
        if self.picks is None or stop is not self.stop or not self.picks(questions, answer):
            return False
        self.picks, is_cut, go_on = None, self.is_cut, self.go_on
        self.has_stopped.set()
        if not is_cut:
            await go_on.wait()
        return is_cut


async def body_of(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    return await reader.readexactly(int(length[15:]))


def asks(method: str) -> Picks:
    return lambda questions, _: any(each["method"] == method for each in questions)


@asynccontextmanager
async def relay_before(url: str) -> AsyncIterator[Relay]:
    async with httpx.AsyncClient(
        timeout=60,
        verify=False,
        limits=httpx.Limits(max_connections=None),
        headers={"content-type": "application/json"},
    ) as client:
        relay, calls = Relay(url, client), set[asyncio.Task[None]]()

        async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            calls.add(call := asyncio.create_task(relay.serve(reader, writer)))
            call.add_done_callback(calls.discard)

        async with await asyncio.start_server(answered, "127.0.0.1", 0) as server:
            relay.port = server.sockets[0].getsockname()[1]
            yield relay
            for call in list(calls):
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
