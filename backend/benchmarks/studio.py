"""The studio under a crowd: 1,000 poll their jobs and 200 watch theirs while 500 are worked on, each with a key of their own user."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks import rounds, stage
from benchmarks.crowd import BUSY, JOBS, POLL_S, POLLERS, USERS, WATCHERS
from benchmarks.row import Row, compared
from benchmarks.stream import serving
from glisk.engine.link import Link
from glisk.repositories.key_repository import KeyRepository, Terms

TITLE, PATIENCE_S = "studio", 300
MOST_P50_MS, MOST_P99_MS, AIM = 50.0, 500.0, 0.5
RATE = 10**6  # a minute, of each key


def measure() -> Iterator[Row]:
    rounds.forget(lambda title: title == TITLE)
    with stage.server() as server, stage.database(server, "ours") as url, working(url), serving(url) as address:
        figures = crowd(address, asyncio.run(keys(url)))
    rounds.keep(TITLE, 1, "glisk", figures)
    who = f"GET /jobs/ID while {POLLERS:,} poll every {POLL_S} s, {WATCHERS} watch, {JOBS} run"
    yield compared("studio", f"{who}: p50, ms", "a limit", ours=figures["p50"], theirs=MOST_P50_MS, at_least=1)
    yield compared("studio", f"{who}: p99, ms", "a limit", ours=figures["p99"], theirs=MOST_P99_MS, at_least=1)
    ours, theirs = figures["user"], figures["operator"]
    told = f"GET /jobs/ID from {BUSY} who never rest, requests/s"
    peer = "an operator's key, for which no role is changed"
    yield compared("studio", told, peer, ours=ours, theirs=theirs, at_least=AIM, more_is_better=True)


def crowd(address: str, keys: list[str]) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.crowd", address, ",".join(keys)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE_S)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


async def keys(url: str) -> list[str]:
    """Of the users, and the operator's as the last."""
    link = Link(url)
    try:
        made = KeyRepository(link)
        users = [await made.make(f"bench-{n}", "user", "a bench", Terms(rate=RATE)) for n in range(USERS)]
        return [*users, await made.make("operator", "operator", "a bench", Terms(rate=RATE))]
    finally:
        await link.close()


@contextmanager
def working(url: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "benchmarks.peers.taking_time", url, directory]
        with subprocess.Popen(command) as process:
            try:
                yield
            finally:
                process.terminate()
