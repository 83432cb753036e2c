"""docker-compose.yml and the Dockerfile as a test reads them: as much of their languages as ours use."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]


class Line(NamedTuple):
    indent: int
    text: str


class Instruction(NamedTuple):
    """`stage`: from 0, each with a FROM."""

    stage: int
    name: str
    rest: str


def compose() -> dict[str, Any]:
    text = (ROOT / "docker-compose.yml").read_text()
    lines = [Line(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines()]
    lines = [line for line in lines if line.text and not line.text.startswith("#")]
    found = block(lines, {})
    assert isinstance(found, dict)
    return found


def block(lines: list[Line], anchors: dict[str, Any]) -> Any:
    """Takes what belongs together from the front of the lines."""
    indent = lines[0].indent
    made: Any = [] if lines[0].text.startswith("- ") else {}
    while lines and lines[0].indent == indent:
        line = lines.pop(0)
        if isinstance(made, list):
            made.append(item(line, lines, anchors))
            continue
        key, value = entry(line, lines, anchors)
        made.update(value if key == "<<" else {key: value})
    assert not lines or lines[0].indent < indent, lines[0]
    return made


def item(line: Line, lines: list[Line], anchors: dict[str, Any]) -> Any:
    text = line.text.removeprefix("- ")
    if not re.match(r"[\w-]+: ", text):
        return scalar(text)
    lines.insert(0, Line(line.indent + 2, text))
    return block(lines, anchors)


def entry(line: Line, lines: list[Line], anchors: dict[str, Any]) -> tuple[str, Any]:
    key, _, text = line.text.partition(":")
    text = text.strip()
    if text.startswith("*"):
        return key, anchors[text[1:]]
    if text and not text.startswith("&"):
        return key, scalar(text)
    value = block(lines, anchors) if lines and lines[0].indent > line.indent else None
    if text:
        anchors[text[1:]] = value
    return key, value


def scalar(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return json.loads(text) if text[0] in '["' else text


def dockerfile() -> list[Instruction]:
    return list(instructions())


def instructions() -> Iterator[Instruction]:
    stage = -1
    for line in (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines():
        if not line or line.startswith("#"):
            continue
        name, rest = line.split(maxsplit=1)
        stage += name == "FROM"
        yield Instruction(stage, name, rest)


def copied(rest: str) -> tuple[list[str], str]:
    """From where, and to where."""
    *sources, target = (word for word in shlex.split(rest) if not word.startswith("--"))
    return sources, target


def sent_to_the_builder(path: str) -> bool:
    """As .dockerignore has it, which leaves out all but what it names."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    return any(path == kept or path.startswith(f"{kept}/") for kept in (line[1:] for line in lines if line[:1] == "!"))
