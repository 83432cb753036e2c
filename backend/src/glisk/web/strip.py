"""A token's way as a picture: for each step when it waited and when it was worked on, on one line of time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from glisk.repositories.timeline import Entry, Story
from glisk.web.words import duration

LEAST = 0.4  # percent: so that what was quick can still be seen


class Stretch(Struct, frozen=True):
    """A part of the line, in percent of it."""

    kind: Literal["wait", "work"]
    start: float
    width: float
    text: str
    verdict: str


class Row(Struct, frozen=True):
    step: str
    stretches: list[Stretch]
    waited_s: float
    worked_s: float


class Strip(Struct, frozen=True):
    rows: list[Row]
    seconds: float


def strip(story: Story) -> Strip | None:
    """None: nothing of it takes time yet."""
    timed = [entry for entry in story.entries if entry.waited_s is not None or entry.worked_s is not None]
    if not timed:
        return None
    first = min(entry.at - timedelta(seconds=entry.waited_s or 0) for entry in timed)
    last = max(entry.at + timedelta(seconds=entry.worked_s or 0) for entry in timed)
    seconds = max((last - first).total_seconds(), 0.001)
    steps = list(dict.fromkeys(entry.step for entry in timed))
    return Strip([row(step, [e for e in timed if e.step == step], first, seconds) for step in steps], seconds)


def row(step: str, entries: Iterable[Entry], first: datetime, seconds: float) -> Row:
    entries = list(entries)
    stretches = [stretch for entry in entries for stretch in stretches_of(entry, first, seconds)]
    waited, worked = sum(e.waited_s or 0 for e in entries), sum(e.worked_s or 0 for e in entries)
    return Row(step, stretches, waited, worked)


def stretches_of(entry: Entry, first: datetime, seconds: float) -> list[Stretch]:
    start = (entry.at - first).total_seconds()
    waited, worked = entry.waited_s or 0.0, entry.worked_s or 0.0
    name = f"{entry.step} #{entry.number}" if entry.number else entry.step
    found = [
        stretch("wait", start - waited, waited, seconds, f"{name} waited {duration(waited)}", entry.verdict),
        stretch("work", start, worked, seconds, f"{name} {entry.verdict}, {duration(worked)}", entry.verdict),
    ]
    return [each for each, length in zip(found, (waited, worked), strict=True) if length > 0]


def stretch(
    kind: Literal["wait", "work"], start: float, length: float, seconds: float, text: str, verdict: str
) -> Stretch:
    width = min(max(100 * length / seconds, LEAST), 100.0)
    return Stretch(kind, min(max(100 * start / seconds, 0.0), 100.0 - width), width, text, verdict)
