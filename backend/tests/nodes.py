"""A node of a made-up chain, over real HTTP, fast enough not to be what is measured: `python -m tests.nodes '{"blocks": 10}'`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import msgspec

from glisk.chain import calls
from tests import wire
from tests.ledger import FIRST, Ledger

Piece: TypeAlias = bytes | memoryview

CHAIN_ID = 8453
ERC_721 = "80ac58cd"


class Request(msgspec.Struct):
    method: str
    params: list[Any] = []
    id: int | str | None = None


class Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Node:
    """`most_logs`: a question whose answer has more is refused, as by those who sell access. `latency_s`: before each."""

    ledger: Ledger
    most_logs: int = 10_000
    latency_s: float = 0.0

    def answer(self, body: bytes) -> list[Piece]:
        asked = QUESTIONS.decode(body)
        if isinstance(asked, Request):
            return self.reply(asked)
        replies = [[b",", *self.reply(request)] for request in asked]
        return [b"[", *[piece for reply in replies for piece in reply][1:], b"]"]

    def reply(self, request: Request) -> list[Piece]:
        method: Callable[..., list[Piece]] = METHODS.get(request.method, Node.missing)
        try:
            name, found = b"result", method(self, *request.params)
        except Refused as problem:
            name, found = b"error", [encoded({"code": problem.code, "message": str(problem)})]
        return [b'{"jsonrpc":"2.0","id":%b,"%b":' % (encoded(request.id), name), *found, b"}"]

    def chain_id(self) -> list[Piece]:
        return [encoded(hex(CHAIN_ID))]

    def height(self) -> list[Piece]:
        return [encoded(hex(self.ledger.head))]

    def block(self, number: str, is_full: bool = False) -> list[Piece]:
        return [encoded(self.ledger.header(self.ledger.number(number)))]

    def logs(self, terms: dict[str, Any]) -> list[Piece]:
        first, last = self.range(terms)
        cuts = self.ledger.logs(first, last, terms.get("topics") or []) if is_asked_for(terms) else []
        if sum(cut.logs for cut in cuts) > self.most_logs:
            raise Refused(-32005, f"query returned more than {self.most_logs} results")
        return [b"[", *[piece for cut in cuts for piece in (b",", cut.json)][1:], b"]"]

    def range(self, terms: dict[str, Any]) -> tuple[int, int]:
        if "blockHash" not in terms:
            first, last = (self.ledger.number(terms.get(end, "latest")) for end in ("fromBlock", "toBlock"))
        elif (number := self.ledger.height(terms["blockHash"])) is not None:
            first = last = number
        else:
            raise Refused(-32000, "unknown block")
        if last > self.ledger.head:
            raise Refused(-32602, "block range extends beyond current head block")
        return first, last

    def call(self, terms: dict[str, str], at: str = "latest") -> list[Piece]:
        data = terms.get("data") or terms.get("input") or "0x"
        minted = self.ledger.minted_by(self.ledger.number(at))
        known = {calls.NEXT_TOKEN_ID: minted + 1, calls.TOTAL_SUPPLY: minted}
        if data.startswith(calls.SUPPORTS_INTERFACE):
            return [encoded(f"0x{int(data[10:18] == ERC_721):064x}")]
        if not is_asked_for({"address": terms["to"]}) or data not in known:
            raise Refused(3, "execution reverted")
        return [encoded(f"0x{known[data]:064x}")]

    def code(self, address: str, at: str = "latest") -> list[Piece]:
        is_there = is_asked_for({"address": address}) and self.ledger.number(at) >= FIRST
        return [encoded("0x60" if is_there else "0x")]

    def missing(self, *params: Any) -> list[Piece]:
        raise Refused(-32601, "the method does not exist")


def is_asked_for(terms: dict[str, Any]) -> bool:
    asked = terms.get("address", wire.ADDRESS)
    return wire.ADDRESS in (one.lower() for one in ([asked] if isinstance(asked, str) else asked))


@dataclass
class Connection(asyncio.Protocol):
    """HTTP/1.1 as far as it is needed: POST with a Content-Length, one request after the other."""

    node: Node
    buffer: bytearray = field(default_factory=bytearray)
    transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            size = length(bytes(self.buffer[:end]))
            if len(self.buffer) < end + 4 + size:
                return
            body = bytes(self.buffer[end + 4 : end + 4 + size])
            del self.buffer[: end + 4 + size]
            asyncio.get_running_loop().call_later(self.node.latency_s, self.send, self.node.answer(body))

    def send(self, pieces: list[Piece]) -> None:
        size = sum(map(len, pieces))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % size
        if self.transport and not self.transport.is_closing():
            self.transport.writelines([head, *pieces])


def length(head: bytes) -> int:
    return next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)


@contextmanager
def as_process(ledger: Ledger, **terms: Any) -> Iterator[str]:
    """Its address. It shares no interpreter with what is measured."""
    command = [sys.executable, "-m", "tests.nodes", msgspec.json.encode(Node(ledger, **terms)).decode()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


async def serve(node: Node) -> None:
    node.ledger.logs(FIRST, FIRST, [])  # makes them all
    server = await asyncio.get_running_loop().create_server(lambda: Connection(node), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


encoded = msgspec.json.encode
QUESTIONS = msgspec.json.Decoder(Request | list[Request])
METHODS: dict[str, Callable[..., list[Piece]]] = {
    "eth_chainId": Node.chain_id,
    "eth_blockNumber": Node.height,
    "eth_getBlockByNumber": Node.block,
    "eth_getLogs": Node.logs,
    "eth_call": Node.call,
    "eth_getCode": Node.code,
}

if __name__ == "__main__":
    asyncio.run(serve(msgspec.json.decode(sys.argv[1], type=Node)))
