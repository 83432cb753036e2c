"""Turns of several contestants: all of them take one before anybody takes the next, so that what else the machine does meets all alike."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

Figures: TypeAlias = dict[str, float]  # what was measured, with its unit, and how much it was

KEPT = Path(__file__).parent / "results" / "rounds.jsonl"


def interleaved(title: str, turns: Mapping[str, Callable[[], Figures]], rounds: int) -> dict[str, Figures]:
    """Every contestant's medians. The figures of each turn are printed and kept."""
    taken: dict[str, list[Figures]] = {name: [] for name in turns}
    for number in range(1, rounds + 1):
        for name, turn in turns.items():
            taken[name].append(turn())
            keep(title, number, name, taken[name][-1])
    return {name: medians(figures) for name, figures in taken.items()}


def keep(title: str, number: int, name: str, figures: Figures) -> None:
    said = ", ".join(f"{what} {value:,.4g}" for what, value in figures.items())
    print(f"{title}, round {number}, {name}: {said}", flush=True)
    with KEPT.open("a") as file:
        file.write(json.dumps({"title": title, "round": number, "name": name, **figures}) + "\n")


def forget(is_gone: Callable[[str], bool]) -> None:
    """Those whose title says so."""
    KEPT.parent.mkdir(exist_ok=True)
    lines = KEPT.read_text().splitlines(keepends=True) if KEPT.exists() else []
    KEPT.write_text("".join(line for line in lines if not is_gone(json.loads(line)["title"])))


def medians(taken: Sequence[Figures]) -> Figures:
    return {what: statistics.median(figures[what] for figures in taken) for what in taken[0]}
