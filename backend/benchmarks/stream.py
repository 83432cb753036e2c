"""What it costs the work that people watch it: a backlog is worked off while nobody, and while 200 follow the events of a server."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx

from benchmarks import rounds, stage
from benchmarks.drain import DRAINED
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared
from tests.commands import GLISK, a_free_port

ROUNDS, JOBS, CLIENTS = 5, 100_000, 200
TITLE, AIM = "stream", 0.9


def measure() -> Iterator[Row]:
    rounds.forget(lambda title: title == TITLE)
    with stage.server() as server:
        turns = {f"{clients} follow": partial(turn, server, clients) for clients in (0, CLIENTS)}
        alone, watched = (figures[DRAINED] for figures in rounds.interleaved(TITLE, turns, ROUNDS).values())
    told = f"drain while {CLIENTS} follow the events, jobs/s"
    yield compared("stream", told, "nobody follows", ours=watched, theirs=alone, at_least=AIM, more_is_better=True)


def turn(server: str, clients: int) -> Figures:
    """The server runs in both, and those who follow are a process of their own."""
    with stage.database(server, "ours") as url, serving(url) as address, watching(address, clients):
        stage.run("ours", "enqueue_bulk", url, JOBS)
        stage.execute(url, "VACUUM ANALYZE", "CHECKPOINT")
        drained = stage.run("ours", "drain", url, JOBS, batch=100)
        stage.check_done("ours", url, JOBS)
    return {DRAINED: JOBS / drained}


@contextmanager
def serving(url: str) -> Iterator[str]:
    port = a_free_port()
    with tempfile.TemporaryDirectory() as directory:
        environment = os.environ | {
            "GLISK_DATABASE_URL": url,
            "GLISK_PORT": str(port),
            "GLISK_DATA_DIR": str(Path(directory) / "glisk"),
        }
        with subprocess.Popen([*GLISK, "serve"], stdout=subprocess.DEVNULL, env=environment, cwd=directory) as process:
            try:
                yield until_ready(f"http://127.0.0.1:{port}")
            finally:
                process.terminate()


def until_ready(address: str) -> str:
    over = time.monotonic() + stage.PATIENCE_S
    while time.monotonic() < over:
        try:
            if httpx.get(f"{address}/ready").status_code == 200:
                return address
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


@contextmanager
def watching(address: str, clients: int) -> Iterator[None]:
    """Until all of them have been greeted, and to the end."""
    command = [sys.executable, "-m", "benchmarks.stream", address, str(clients)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "ready\n"
            yield
            assert process.poll() is None, "those who follow have gone"
        finally:
            process.kill()


async def watch(address: str, clients: int) -> None:
    greeted = [asyncio.create_task(watch_one(address)) for _ in range(clients)]
    readers = [await each for each in greeted]
    print("ready", flush=True)
    await asyncio.gather(asyncio.Event().wait(), *(drop(reader) for reader, _ in readers))


async def watch_one(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """As little of a client as will do: the machine is there for those who are measured."""
    host, _, port = address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /events HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: text/event-stream\r\n\r\n".encode())
    assert b" 200 " in await reader.readline()
    await reader.readuntil(b"retry: ")
    return reader, writer


async def drop(reader: asyncio.StreamReader) -> None:
    while await reader.read(65_536):
        pass
    raise AssertionError("a stream has ended")


if __name__ == "__main__":
    asyncio.run(watch(sys.argv[1], int(sys.argv[2])))
