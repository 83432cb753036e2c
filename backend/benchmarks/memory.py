"""What a job in flight weighs in the worker process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import rounds, stage, traffic
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared

ROUNDS, JOBS, MOST_KB = 3, 1000, 100.0
WEIGHT = f"memory a job at {JOBS:,} in flight, KB"


def measure(server: str) -> Iterator[Row]:
    ours = rounds.interleaved("memory", {"glisk": partial(turn, server)}, ROUNDS)["glisk"][WEIGHT]
    yield compared("engine", WEIGHT, "a limit", ours=ours, theirs=MOST_KB, at_least=1)


def turn(server: str) -> Figures:
    with stage.database(server, "ours") as url:
        stage.run("ours", "enqueue_bulk", url, traffic.WARM_UP)
        send = partial(stage.run, "ours", "enqueue_bulk", url, JOBS)
        grown, _ = stage.beside("ours", "hold", url, JOBS, send, warm_up=traffic.WARM_UP)
    return {WEIGHT: grown / 1024 / JOBS}
