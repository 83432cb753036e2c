"""The engine beside its peers, on one PostgreSQL in one run."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import drain, enqueue, growth, latency, memory, rounds, stage, steady
from benchmarks.row import Row


def measure() -> Iterator[Row]:
    rounds.forget(lambda title: not title.startswith(("chain", "stream")))
    with stage.server() as server:
        for part in (drain, enqueue, latency, steady, growth, memory):
            yield from part.measure(server)
