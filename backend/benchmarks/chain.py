"""The chain: how fast it is read from its beginning, how soon at its end."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import chain_backfill, chain_head, chain_reading, rounds, stage
from benchmarks.row import Row


def measure() -> Iterator[Row]:
    rounds.forget(lambda title: title.startswith("chain"))
    with stage.server() as server:
        for part in (chain_reading, chain_backfill, chain_head):
            yield from part.measure(server)
