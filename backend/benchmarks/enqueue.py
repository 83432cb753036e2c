"""How fast many callers enqueue when each waits for its own job's commit before it sends the next."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import rounds, stage
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared

ROUNDS, CALLERS = 3, 20
RATE = f"enqueue one by one from {CALLERS} callers, jobs/s"
JOBS = {"glisk": 6_000, "pgqueuer": 3_000, "procrastinate": 2_000}
AIMS = {"pgqueuer": 1.5, "procrastinate": 5}


def measure(server: str) -> Iterator[Row]:
    turns = {name: partial(turn, server, peer, JOBS[name]) for name, peer in stage.PEERS.items()}
    figures = rounds.interleaved("enqueue", turns, ROUNDS)
    for peer, aim in AIMS.items():
        ours, theirs = figures["glisk"][RATE], figures[peer][RATE]
        yield compared("engine", RATE, peer, ours=ours, theirs=theirs, at_least=aim, more_is_better=True)


def turn(server: str, peer: str, n: int) -> Figures:
    with stage.database(server, peer) as url:
        return {RATE: n / stage.run(peer, "enqueue_each", url, n, callers=CALLERS)}
