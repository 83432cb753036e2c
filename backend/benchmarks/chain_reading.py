"""How fast logs become rows, beside web3.py: from the same node, into the same table, in one run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import rounds, stage
from benchmarks.peers.logs import MINTS
from benchmarks.rounds import Figures
from benchmarks.row import Row, compared
from tests import nodes
from tests.ledger import Ledger

ROUNDS, AIM = 3, 30
ARRIVED = 10_000  # logs in an answer
STORED, READ = "logs read and stored, events/s", "logs read, events/s"
PEER = "web3.py, contract.events.X.get_logs"
# Who reads how many.
READERS = {"glisk": ("logs_ours", 200_000), PEER: ("logs_web3", 10_000)}


def measure(server: str) -> Iterator[Row]:
    with nodes.as_process(Ledger(blocks=max(n for _, n in READERS.values()) // MINTS, mints=MINTS)) as url:
        port = int(url.rsplit(":", 1)[1])
        turns = {name: partial(turn, server, port, *reader) for name, reader in READERS.items()}
        figures = rounds.interleaved("chain: reading", turns, ROUNDS)
    for what in (STORED, READ):
        ours, theirs = figures["glisk"][what], figures[PEER][what]
        yield compared("chain", what, PEER, ours=ours, theirs=theirs, at_least=AIM, more_is_better=True)


def turn(server: str, port: int, peer: str, n: int) -> Figures:
    with stage.database(server, peer) as url:
        stored = stage.run(peer, "store", url, n, port=port)
        stage.check_done(peer, url, n)
    read = stage.run(peer, "read_only", url, ARRIVED, port=port)
    return {STORED: n / stored, READ: ARRIVED / read}
