"""How soon an idle worker starts a job that was just committed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import rounds, stage, traffic
from benchmarks.row import Row, compared

ROUNDS, JOBS, RATE = 5, 150, 33


def measure(server: str) -> Iterator[Row]:
    turns = {name: partial(traffic.turn, server, peer, JOBS, RATE, 0) for name, peer in stage.PEERS.items()}
    figures = rounds.interleaved("idle worker", turns, ROUNDS)
    ours = figures.pop("glisk")
    for peer, theirs in figures.items():
        for what in (traffic.P50, traffic.P95):
            measure = f"idle worker, {what}"
            yield compared("engine", measure, peer, ours=ours[what], theirs=theirs[what], at_least=1)
