"""How a status looks: a word, an icon and a colour, since a colour alone tells not everybody anything."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from glisk.workflows import GOOD, WORKFLOWS

Tone: TypeAlias = Literal["good", "bad", "work", "wait", "look", "off"]

ICONS: dict[Tone, str] = {"good": "✓", "bad": "✕", "work": "◐", "wait": "○", "look": "◉", "off": "–"}
# Words for people where the status's own name says less.
WORDS = {
    "detected": "minted",
    "generating": "drawing",
    "uploading": "drawn",
    "ready": "pinned",
    "review": "in review",
    "orphaned": "left the chain",
}
BAD, LOOK, OFF = (
    {"failed", "broken", "dead", "held"},
    {"review", "warning", "paused", "closed"},
    {"orphaned", "cancelled"},
)
ACTIVE = {step.active or step.process for flow in WORKFLOWS.values() for step in flow.steps.values()}


class Chip(NamedTuple):
    word: str
    icon: str
    tone: Tone


def chip(status: str) -> Chip:
    tone = tone_of(status)
    return Chip(WORDS.get(status, status), ICONS[tone], tone)


def tone_of(status: str) -> Tone:
    if status in BAD or status.endswith("-failed"):
        return "bad"
    if status in LOOK:
        return "look"
    if status in OFF:
        return "off"
    if status in ACTIVE:
        return "work"
    return "good" if status in {"revealed", "completed", "ok", "done", "open", *GOOD} - {"ready"} else "wait"
