"""What an ordinary load costs: 100 jobs a second that take two seconds each, so 200 in flight."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import rounds, stage, traffic
from benchmarks.row import Row, compared

ROUNDS, JOBS, RATE, LASTS_MS = 3, 1000, 100, 2000
JUDGED = (traffic.TRANSACTIONS, traffic.CPU, traffic.P50, traffic.P95)


def measure(server: str) -> Iterator[Row]:
    turns = {name: partial(traffic.turn, server, peer, JOBS, RATE, LASTS_MS) for name, peer in stage.PEERS.items()}
    figures = rounds.interleaved(f"steady {RATE}/s", turns, ROUNDS)
    ours = figures.pop("glisk")
    for peer, theirs in figures.items():
        for what in JUDGED:
            measure = f"steady {RATE}/s, {what}"
            yield compared("engine", measure, peer, ours=ours[what], theirs=theirs[what], at_least=1)
