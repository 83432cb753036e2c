"""Where the contestants meet: one PostgreSQL for all, a fresh database for each turn, every contestant in its own process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import asyncpg

from glisk.dev import postgres

T = TypeVar("T")

# fsync and synchronous_commit stay on. A checkpoint comes with every database that is dropped, so never amid a turn.
SETTINGS = {"shared_buffers": "1GB", "max_connections": "200", "max_wal_size": "8GB", "checkpoint_timeout": "30min"}
PEERS = {"glisk": "ours", "pgqueuer": "pgqueuer_", "procrastinate": "procrastinate_"}  # and their modules
PATIENCE_S = 120.0


@contextmanager
def server() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory, postgres.running(Path(directory) / "postgres", SETTINGS) as url:
        yield url


@contextmanager
def database(server: str, peer: str) -> Iterator[str]:
    """The address of a fresh one with the peer's schema, dropped at the end."""
    url = created(server, f"{peer}_{uuid4().hex}", installed(server, peer))
    yield url
    execute(server, f'DROP DATABASE "{name_in(url)}" WITH (FORCE)')


@cache
def installed(server: str, peer: str) -> str:
    """The name of a database to copy."""
    url = created(server, peer, "template1")
    run(peer, "install", url, 0)
    return name_in(url)


def created(server: str, name: str, template: str) -> str:
    execute(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return server.rsplit("/", 1)[0] + f"/{name}"


def name_in(url: str) -> str:
    return url.rsplit("/", 1)[1]


def run(peer: str, action: str, url: str, n: int, **terms: int) -> Any:
    """What it answered; to wait for it any longer would be to wait for a job that was lost."""
    with started(peer, action, url, n, terms) as process:
        return answer(process)


def check_done(peer: str, url: str, n: int) -> None:
    """Asked afterwards and of the database: nobody is faster for having left something undone."""
    done = run(peer, "done", url, n)
    assert done == n, f"{peer} did {done} of {n}"


def beside(peer: str, action: str, url: str, n: int, meanwhile: Callable[[], T], **terms: int) -> tuple[Any, T]:
    """What it answered, and what came of `meanwhile`, which began when it said that it was ready."""
    with started(peer, action, url, n, terms) as process:
        assert process.stdout
        while (line := process.stdout.readline()) != "ready\n":
            assert line, f"{peer} ended before it was ready to {action}"
        result = meanwhile()
        return answer(process), result


@contextmanager
def started(peer: str, action: str, url: str, n: int, terms: dict[str, int]) -> Iterator[subprocess.Popen[str]]:
    options = [f"{name}={value}" for name, value in terms.items()]
    command = [sys.executable, "-m", "benchmarks.peers", peer, action, url, str(n), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()  # does nothing to one that has ended


def answer(process: subprocess.Popen[str]) -> Any:
    """The last line: a peer may have printed others."""
    printed, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, f"It ended with {process.returncode}: {process.args!r}"
    return json.loads(printed.splitlines()[-1])


def execute(url: str, *statements: str) -> None:
    async def each() -> None:
        connection = await asyncpg.connect(url)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    asyncio.run(each())
