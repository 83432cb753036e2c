"""Reads work.sql: each statement by its name, with the names of one work table filled in."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from glisk.engine.workflow import WorkTable

TITLE = re.compile(r"^-- name: (\w+) \(.*\)$", re.MULTILINE)


@cache
def statement(name: str, table: WorkTable) -> str:
    """The text is composed from a WorkTable's checked names and nothing else."""
    text = every_statement()[name]
    for field, value in (("table", table.name), ("error", table.error), ("facts", ", ".join(table.facts))):
        text = text.replace(f"{{{field}}}", value)
    return text


@cache
def every_statement() -> dict[str, str]:
    _, *parts = TITLE.split(files("glisk.engine").joinpath("work.sql").read_text())
    return {name: without_comments(body) for name, body in zip(parts[::2], parts[1::2], strict=True)}


def without_comments(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if line and not line.startswith("--"))
