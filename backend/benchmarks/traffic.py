"""A worker serves while another process sends it jobs: how soon they start, and what that costs the database."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable

from benchmarks import meter, stage
from benchmarks.rounds import Figures

WARM_UP = 20
P50, P95, FROM_SENDING = "pick-up p50, ms", "pick-up p95, ms", " from sending"
CPU, TRANSACTIONS, WAL = "database CPU a job, ms", "transactions a job", "WAL a job, bytes"


def turn(server: str, peer: str, n: int, rate: int, ms: int) -> Figures:
    """Costs are per job, from before the first one was sent until the worker has ended; the sender's share is in them."""
    with stage.database(server, peer) as url:
        stage.run(peer, "enqueue_bulk", url, WARM_UP)

        def send() -> tuple[meter.Reading, list[tuple[float, float]]]:
            return meter.read(url), stage.run(peer, "produce", url, n, rate=rate)

        started, (before, produced) = stage.beside(peer, "serve", url, n, send, warm_up=WARM_UP, ms=ms)
        time.sleep(0.5)  # the backends end, and report, a moment after their clients
        used = meter.read(url) - before
        stage.check_done(peer, url, WARM_UP + n)
    costs = {CPU: 1000 * used.cpu / n, TRANSACTIONS: used.transactions / n, WAL: used.wal / n}
    return pick_up(produced, started) | costs


def pick_up(produced: list[tuple[float, float]], started: list[float]) -> Figures:
    """Until the handler's first line: from the moment the sender knew of the commit, and from that before it sent the job,
    all by the machine's monotonic clock. The former is judged; the latter shows whether a slow sender flatters it."""
    sent, committed = zip(*produced, strict=True)
    from_sending = {what + FROM_SENDING: value for what, value in waits(sent, started).items()}
    return waits(committed, started) | from_sending


def waits(since: Iterable[float], started: Iterable[float]) -> Figures:
    waited = [1000 * (start - before) for before, start in zip(since, started, strict=True)]
    return {P50: statistics.median(waited), P95: statistics.quantiles(waited, n=20)[-1]}
