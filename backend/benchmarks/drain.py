"""How fast a backlog is written in bulk, and worked off by one worker process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import rounds, stage
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared

ROUNDS = 5
WRITTEN, DRAINED = "enqueue in bulk, jobs/s", "drain, jobs/s"
# Who drains how many jobs, and how.
DRAINS: dict[str, tuple[str, int, dict[str, int]]] = {
    "glisk, batch 100": ("ours", 100_000, {"batch": 100}),
    "glisk, batch 500": ("ours", 100_000, {"batch": 500}),
    "by hand, batch 100": ("by_hand", 100_000, {"batch": 100}),
    "by hand, batch 500": ("by_hand", 100_000, {"batch": 500}),
    "pgqueuer, batch 100": ("pgqueuer_", 15_000, {"batch": 100, "managers": 1}),
    "pgqueuer, batch 100, 2 managers": ("pgqueuer_", 15_000, {"batch": 100, "managers": 2}),
    "awa, 256 workers": ("awa_", 20_000, {"workers": 256}),
    "procrastinate, 20": ("procrastinate_", 1_000, {"concurrency": 20}),
    "procrastinate, 50": ("procrastinate_", 1_000, {"concurrency": 50}),
}
AIMS = {"by hand": 0.35, "pgqueuer": 1.5, "awa": 5, "procrastinate": 50}
WRITE_AIMS = {"pgqueuer": 1.5, "procrastinate": 5}


def measure(server: str) -> Iterator[Row]:
    turns = {name: partial(turn, server, *terms) for name, terms in DRAINS.items()}
    figures = rounds.interleaved("drain", turns, ROUNDS)
    yield from (drained(name, figures) for name in DRAINS if not name.startswith("glisk"))
    for peer, aim in WRITE_AIMS.items():
        mine, best = best_written(figures, "glisk"), best_written(figures, peer)
        yield compared("engine", WRITTEN, peer, ours=mine, theirs=best, at_least=aim, more_is_better=True)


def turn(server: str, peer: str, n: int, terms: dict[str, int]) -> Figures:
    with stage.database(server, peer) as url:
        written = stage.run(peer, "enqueue_bulk", url, n)
        stage.execute(url, "VACUUM ANALYZE", "CHECKPOINT")
        drained = stage.run(peer, "drain", url, n, **terms)
        stage.check_done(peer, url, n)
    return {DRAINED: n / drained, WRITTEN: n / written}


def drained(name: str, figures: dict[str, Figures]) -> Row:
    """Beside the loop by hand at the same batch, beside the others each at its best."""
    batch = name.removeprefix("by hand, ") if name.startswith("by hand") else ""
    ours = max(figure[DRAINED] for mine, figure in figures.items() if mine.startswith("glisk") and mine.endswith(batch))
    aim = 0.5 if name == "by hand, batch 500" else AIMS[name.split(",")[0]]
    theirs = figures[name][DRAINED]
    return compared("engine", DRAINED, name, ours=ours, theirs=theirs, at_least=aim, more_is_better=True)


def best_written(figures: dict[str, Figures], contestant: str) -> float:
    return max(figure[WRITTEN] for name, figure in figures.items() if name.startswith(contestant))
