"""Hears of new blocks as they come. Nothing that is heard is believed: it only wakes whoever looks."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import msgspec
import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from glisk.addresses import shown_node
from glisk.chain.rpc import names
from glisk.engine.workflow import Backoff

log = structlog.get_logger()

SUBSCRIBE = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"]}).decode()
BIGGEST = 1 << 20  # bytes; a head is one or two thousand
BROKEN = (OSError, TimeoutError, WebSocketException, msgspec.MsgspecError, ValueError)


@dataclass(frozen=True, slots=True)
class Patience:
    """`silence`: how long none may come while others see new blocks. `rest` doubles up to `longest_rest`, and is drawn."""

    silence: timedelta = timedelta(seconds=20)
    answer: timedelta = timedelta(seconds=10)
    ping: timedelta = timedelta(seconds=20)
    rest: timedelta = timedelta(milliseconds=500)
    longest_rest: timedelta = timedelta(seconds=30)


DEFAULT = Patience()


class Unheard(Exception):
    """The socket is open, and of no use."""


async def heads(
    url: str,
    on_head: Callable[[], None],
    head_moved: Callable[[], int],
    patience: Patience = DEFAULT,
    *,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> None:
    """For ever; cancel it to stop. `on_head` is called for each new block, and should do no more than set an event;
    `head_moved` tells the newest block that is known otherwise, without which a silent socket could not be told from a
    chain without blocks."""
    failures = 0
    while True:
        ear = Ear(on_head, head_moved, patience.silence.total_seconds(), now)
        try:
            await heard(url, ear, patience)
        except (*BROKEN, Unheard) as error:
            failures = 1 if ear.heads else failures + 1
            why = names.without_secrets(str(error) or type(error).__name__, url)[:300]
            log.info("lost the socket that tells of new blocks", socket=shown_node(url), why=why, failures=failures)
        rest = Backoff(patience.rest, patience.longest_rest).after(failures).total_seconds()
        await sleep(rest * (0.5 + jitter() / 2))


class Ear:
    """What was heard on one connection, and whether it has gone quiet."""

    def __init__(
        self, on_head: Callable[[], None], head_moved: Callable[[], int], silence: float, now: Callable[[], float]
    ) -> None:
        self.on_head, self.head_moved, self.silence, self.now = on_head, head_moved, silence, now
        self.heads, self.heard_at, self.known = 0, now(), head_moved()

    @property
    def left(self) -> float:
        return self.heard_at + self.silence - self.now()

    def hear(self, message: str | bytes) -> None:
        """Whatever a provider sends to keep the line open is not a head."""
        text = message if isinstance(message, str) else message.decode(errors="replace")
        if "eth_subscription" in text:
            self.heads += 1
            self.start_again()
            self.on_head()

    def start_again(self) -> None:
        self.heard_at, self.known = self.now(), self.head_moved()

    def check(self) -> None:
        """A chain may rest; a socket that rests while the chain goes on is dead."""
        if self.left > 0:
            return
        if (moved := self.head_moved()) > self.known:
            raise Unheard(
                f"no block was heard of for {self.silence:g} s, while the chain went from {self.known} to {moved}"
            )
        self.start_again()


async def heard(url: str, ear: Ear, patience: Patience) -> None:
    ping = patience.ping.total_seconds()
    async with connect(
        url,
        open_timeout=patience.answer.total_seconds(),
        close_timeout=1,
        ping_interval=ping,
        ping_timeout=ping,
        max_size=BIGGEST,
    ) as socket:
        await subscribe(socket, patience.answer.total_seconds())
        ear.start_again()
        log.info("hears of new blocks", socket=shown_node(url))
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(ear.left, 0.001)):
                    ear.hear(await socket.recv())
            ear.check()


async def subscribe(socket: ClientConnection, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        await socket.send(SUBSCRIBE)
        answer = msgspec.json.decode(await socket.recv(), type=dict[str, object])
    if not answer.get("result"):
        raise Unheard(f"it does not tell of new blocks: {answer.get('error')}")
