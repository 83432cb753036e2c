"""The last results as a page for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.row import Row

RESULTS = Path(__file__).parent / "results" / "latest.json"
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Made by `make bench`: Glisk beside its peers, on one PostgreSQL in one run, rounds interleaved, medians. `ratio` is how many
times better ours is; a row that falls short says so. Only ratios mean anything: the machine (2 cores) also runs the database, and
its speed swings. "By hand" is a ceiling, a loop that claims and completes with a fence and does nothing else: no events, no
limits, no retries. "A bare INSERT" is one as well: the tokens of a chain written from memory, without their logs and without a
word of what happened. A chain is read from a made-up node in a process of its own, at its head from a real one (anvil). The raw
rows are in [latest.json](../backend/benchmarks/results/latest.json), every round in
[rounds.jsonl](../backend/benchmarks/results/rounds.jsonl).

| part | measure | against | ours | theirs | ratio | wanted | holds |
|---|---|---|--:|--:|--:|--:|---|
"""


def rendered(rows: Sequence[Row]) -> str:
    return HEAD + "".join(f"| {' | '.join(cells(row))} |\n" for row in rows)


def cells(row: Row) -> list[str]:
    numbers = [short(row["ours"]), short(row["theirs"]), f"{row['ratio']:.2f}", f"{row['at_least']:g}"]
    return [row["part"], row["measure"], row["peer"], *numbers, "yes" if row["holds"] else "NO"]


def short(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"
