"""A node behind real HTTP and WebSocket that does what a test tells it to, its worst included."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from glisk.chain.rpc.limits import Limits
from glisk.chain.rpc.pool import Rpc

Question = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """`cut`: the connection ends after so many bytes of the body; `held`: the rest of the body waits for this, and `drips`
    until then."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    held: asyncio.Event | None = None
    drips: bool = False
    is_reset: bool = False


Fault = Reply | Callable[[Any], Reply | None]  # None: as if nothing were wrong


class Refusal(Exception):
    def __init__(self, code: int, message: str) -> None:
        self.code, self.message = code, message


@dataclass(slots=True)
class Node:
    """`faults` are used up, one for each request; `always` stays. Both spare probes, as long as the node `lives`."""

    chain_id: int = 8453
    head: int = 1000
    faults: deque[Fault] = field(default_factory=deque)
    always: Fault | None = None
    lives: bool = True
    plan: int | None = None  # blocks in a range
    dense: int | None = None  # blocks in a range whose logs fit
    batch: int | None = None  # calls in a request
    is_shuffled: bool = False
    is_zipped: bool = False
    logs: list[Any] = field(default_factory=list)
    url: str = ""
    asked: list[Any] = field(default_factory=list)  # the bodies, probes left out
    probes: int = 0
    busy: int = 0
    busiest: int = 0
    moved: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until_busy(self, requests: int) -> None:
        async with asyncio.timeout(20), self.moved:
            await self.moved.wait_for(lambda: self.busy >= requests)

    def reply(self, body: Any) -> Reply:
        is_probe = "eth_chainId" in json.dumps(body)
        if is_probe:
            self.probes += 1
        else:
            self.asked.append(body)
        if not self.lives:
            return Reply(is_reset=True)
        fault = None if is_probe else (self.faults.popleft() if self.faults else self.always)
        found = fault(body) if callable(fault) else fault
        return found or Reply(self.answer(body))

    def answer(self, body: Any) -> Any:
        if not isinstance(body, list):
            return self.one(body)
        if self.batch is not None and len(body) > self.batch:
            return error(None, -32600, f"batch of more than {self.batch} requests are not allowed on free tier")
        answers = [self.one(question) for question in body]
        return answers[::-1] if self.is_shuffled else answers

    def one(self, question: Question) -> Any:
        try:
            return {"jsonrpc": "2.0", "id": question["id"], "result": self.result(question)}
        except Refusal as refusal:
            return error(question["id"], refusal.code, refusal.message)

    def result(self, question: Question) -> Any:
        match question["method"], question["params"]:
            case "eth_chainId", _:
                return hex(self.chain_id)
            case "eth_blockNumber", _:
                return hex(self.head)
            case "eth_getBlockByNumber", [at, *_]:
                return self.block(self.head if at == "latest" else int(at, 16))
            case "eth_getLogs", [terms]:
                return self.found(terms)
            case "eth_call", _:
                raise Refusal(3, "execution reverted")
            case method, _:
                raise Refusal(-32601, f"the method {method} does not exist/is not available")

    def block(self, number: int) -> Any:
        if number > self.head:
            return None
        return {
            "number": hex(number),
            "hash": f"0x{number + 1:064x}",
            "parentHash": f"0x{number:064x}",
            "timestamp": hex(1_700_000_000 + 2 * number),
        }

    def found(self, terms: Mapping[str, Any]) -> Any:
        if "blockHash" in terms:
            return self.logs
        first, last = int(terms["fromBlock"], 16), int(terms["toBlock"], 16)
        if last > self.head:
            raise Refusal(-32602, "block range extends beyond current head block")
        if self.plan is not None and last - first + 1 > self.plan:
            raise Refusal(
                -32600,
                f"Under the Free tier plan, you can make eth_getLogs requests with up to a {self.plan} block range. Based on"
                f" your parameters, this block range should work: [{hex(first)}, {hex(first + self.plan - 1)}].",
            )
        if self.dense is not None and last - first + 1 > self.dense:
            raise Refusal(-32005, "query returned more than 10000 results")
        return self.logs


def error(id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def saying(code: int, message: str, **options: Any) -> Fault:
    """The same error for each call."""

    def reply(body: Any) -> Reply:
        if isinstance(body, list):
            return Reply([error(question["id"], code, message) for question in body], **options)
        return Reply(error(body["id"], code, message), **options)

    return reply


@asynccontextmanager
async def served(*nodes: Node) -> AsyncIterator[list[str]]:
    """Yields their addresses."""
    servers = [await asyncio.start_server(visitor(node), "127.0.0.1", 0, limit=1 << 24) for node in nodes]
    for node, server in zip(nodes, servers, strict=True):
        node.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield [node.url for node in nodes]
    finally:
        for server in servers:
            server.close()
        visits = [visit for node in nodes for visit in VISITS.pop(id(node), set())]
        for visit in visits:
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)


VISITS: dict[int, set[asyncio.Task[Any]]] = {}


def visitor(node: Node) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]:
    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        VISITS.setdefault(id(node), set()).add(task)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while await one_request(node, reader, writer):
                    pass
        except asyncio.CancelledError:
            pass  # the server is closed
        finally:
            VISITS.get(id(node), set()).discard(task)
            writer.transport.abort()

    return visit


async def one_request(node: Node, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether the connection may be used again."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length"))
    body = json.loads(await reader.readexactly(length))
    node.busy += 1
    node.busiest = max(node.busiest, node.busy)
    async with node.moved:
        node.moved.notify_all()
    try:
        return await send(node, node.reply(body), writer)
    finally:
        node.busy -= 1


async def send(node: Node, reply: Reply, writer: asyncio.StreamWriter) -> bool:
    if reply.is_reset:
        return False
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    headers = {"content-type": "application/json", **reply.headers}
    if node.is_zipped:
        body, headers["content-encoding"] = gzip.compress(body), "gzip"
    lines = [f"HTTP/1.1 {reply.status} As Told", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode())
    kept = len(body) if reply.cut is None else reply.cut
    writer.write(body[: 1 if reply.held else kept])
    await writer.drain()
    if reply.held:
        sent = 1 + (await dripped(body[1:], reply.held, writer) if reply.drips else 0)
        await reply.held.wait()
        writer.write(body[sent:kept])
        await writer.drain()
    return reply.cut is None


async def dripped(body: bytes, held: asyncio.Event, writer: asyncio.StreamWriter) -> int:
    """How much of it was sent."""
    for sent in range(len(body)):
        writer.write(body[sent : sent + 1])
        await writer.drain()
        with suppress(TimeoutError):
            await asyncio.wait_for(held.wait(), 0.02)
            return sent + 1
    return len(body)


class Socket:
    """A WebSocket of a node: it takes subscriptions, unless it `refuses`, and says only what it is told to."""

    def __init__(self) -> None:
        self.url, self.subscribed = "", asyncio.Condition()
        self.visitors: list[ServerConnection] = []
        self.visits = 0
        self.refuses = False

    async def visit(self, connection: ServerConnection) -> None:
        async for message in connection:
            question = json.loads(message)
            if self.refuses:
                await connection.send(json.dumps(error(question["id"], -32601, "notifications not supported")))
                continue
            await connection.send(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": "0xcd0c3e8af590364c"}))
            async with self.subscribed:
                self.visitors.append(connection)
                self.visits += 1
                self.subscribed.notify_all()
        if connection in self.visitors:
            self.visitors.remove(connection)

    async def until_visited(self, times: int) -> None:
        async with asyncio.timeout(20), self.subscribed:
            await self.subscribed.wait_for(lambda: self.visits >= times)

    async def tell(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            head = {"subscription": "0xcd0c3e8af590364c", "result": {"number": hex(number)}}
            await self.say(json.dumps({"jsonrpc": "2.0", "method": "eth_subscription", "params": head}))

    async def say(self, text: str) -> None:
        for visitor in list(self.visitors):
            with suppress(ConnectionClosed):
                await visitor.send(text)

    async def hang_up(self) -> None:
        gone, self.visitors = self.visitors, []
        for visitor in gone:
            await visitor.close(1011, "as told")


@asynccontextmanager
async def a_socket() -> AsyncIterator[Socket]:
    socket = Socket()
    async with serve(socket.visit, "127.0.0.1", 0) as server:
        socket.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        yield socket


class Clock:
    """Time that passes only when somebody waits for it."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


@asynccontextmanager
async def asking(
    *nodes: Node | Clock, limits: Limits | None = None, chain_id: int = 8453, path: str = ""
) -> AsyncIterator[Rpc]:
    """Somebody who asks them, in their order; by a clock of its own unless it is given one."""
    clock = next((each for each in nodes if isinstance(each, Clock)), Clock())
    async with served(*(each for each in nodes if isinstance(each, Node))) as urls:
        addresses = [url + path for url in urls]
        rpc = Rpc(chain_id, addresses, limits=limits or Limits(), now=clock.now, sleep=clock.sleep)
        try:
            yield rpc
        finally:
            await rpc.close()
