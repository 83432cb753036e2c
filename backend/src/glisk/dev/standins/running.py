"""Runs a stand-in where it is wanted: in a thread, in a process of its own, or in this one until Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import httpx
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from glisk.dev.standins.base import Standin, application
from glisk.dev.standins.control import Control
from glisk.dev.standins.wire import Lines

C = TypeVar("C", bound=Control)

LOOPBACK = "127.0.0.1"
BACKLOG = 2048
IDLE_S = 600  # a connection is not ended under a client that pauses
PATIENCE_S = 90.0


@contextmanager
def in_thread(standin: Standin[Any], control: type[C]) -> Iterator[C]:
    """The control calls it directly, without HTTP."""
    listeners = [listener() for _ in range(standin.doors)]
    host = Host(standin, listeners)
    host.start()
    loop = host.loop.result(PATIENCE_S)

    def ask(command: str, given: dict[str, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(standin.obey(command, given), loop).result(PATIENCE_S)

    try:
        yield control(standin.urls, ask)
    finally:
        loop.call_soon_threadsafe(host.stop.set)
        host.join()


class Host(threading.Thread):
    def __init__(self, standin: Standin[Any], listeners: Sequence[socket.socket]) -> None:
        super().__init__(name=standin.name, daemon=True)
        self.standin, self.listeners = standin, listeners
        self.stop = asyncio.Event()
        self.loop: Future[asyncio.AbstractEventLoop] = Future()

    def run(self) -> None:
        asyncio.run(self.main())

    async def main(self) -> None:
        async with serving(self.standin, self.listeners):
            self.loop.set_result(asyncio.get_running_loop())
            await self.stop.wait()


@contextmanager
def as_process(name: str, doors: int, control: type[C]) -> Iterator[C]:
    """Callers may connect at once: the listeners are ours until the process has taken them over."""
    listeners = [listener() for _ in range(doors)]
    found, files = urls(listeners), [door.fileno() for door in listeners]
    command = [sys.executable, "-P", "-m", "glisk.dev.standins", name, *map(str, files)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=files) as process:
        for door in listeners:
            door.close()
        try:
            with httpx.Client(base_url=found[0], timeout=PATIENCE_S) as client:
                yield control(found, asking(client))
        finally:
            process.terminate()


def asking(client: httpx.Client) -> Callable[[str, dict[str, Any]], Any]:
    def ask(command: str, given: dict[str, Any]) -> Any:
        if isinstance(data := given.get("data"), bytes):
            answer = client.put(f"/__{command}/{given['name']}", content=data)
        else:
            answer = client.post(f"/__{command}", json=given)
        if answer.is_error:
            raise ValueError(answer.json()["detail"])
        return answer.json()

    return ask


async def until_stopped(standin: Standin[Any], listeners: Sequence[socket.socket], *, lifeline: bool = False) -> None:
    """Until a signal, or until whoever holds the other end of our standard input is gone."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    if lifeline:
        loop.add_reader(sys.stdin.fileno(), stop.set)
    async with serving(standin, listeners):
        await stop.wait()
    if lifeline:
        loop.remove_reader(sys.stdin.fileno())


@asynccontextmanager
async def serving(standin: Standin[Any], listeners: Sequence[socket.socket]) -> AsyncIterator[None]:
    """With uvicorn's protocol but not its server, which rests between start and stop longer than a test takes."""
    standin.urls = urls(listeners)
    app = dispatcher(standin, listeners)
    config = uvicorn.Config(app, log_config=None, proxy_headers=False, timeout_keep_alive=IDLE_S)
    state, loop = ServerState(), asyncio.get_running_loop()
    standin.lines = Lines(state)
    servers = [
        await loop.create_server(lambda: H11Protocol(config, state, {}), sock=door, backlog=BACKLOG)
        for door in listeners
    ]
    life = loop.create_task(standin.run())
    try:
        yield
    finally:
        for server in servers:
            server.close()
        standin.lines.cut()
        await asyncio.sleep(0)  # every call under way learns of it
        await standin.close()
        life.cancel()
        await asyncio.gather(life, *state.tasks, return_exceptions=True)


def dispatcher(standin: Standin[Any], listeners: Sequence[socket.socket]) -> Callable[[Scope, Receive, Send], Any]:
    apps = dict(zip([door.getsockname()[1] for door in listeners], application(standin), strict=True))

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        await apps[scope["server"][1]](scope, receive, send)

    return dispatch


def listener(port: int = 0) -> socket.socket:
    door = socket.create_server((LOOPBACK, port), backlog=BACKLOG)
    door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # for all it accepts, or each answer waits 40 ms
    return door


def urls(listeners: Sequence[socket.socket]) -> list[str]:
    return ["http://{}:{}".format(*door.getsockname()) for door in listeners]
