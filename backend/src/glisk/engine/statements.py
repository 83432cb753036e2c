"""Reads work.sql: each statement by its name, with the names of one work table filled in."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from glisk.engine.workflow import WorkTable

ROW = ("id", "epoch", "status", "priority", "ready_at", "retry_count")  # what the engine itself reads of a claimed row
TITLE = re.compile(r"^-- name: (\w+) \(.*\)$", re.MULTILINE)


@cache
def statement(name: str, table: WorkTable | None = None) -> str:
    """The text is composed from a WorkTable's checked names and nothing else. Some statements need none."""
    blanks = blanks_of(table) if table else {}
    return re.sub(r"\{(\w+)\}", lambda blank: blanks[blank[1]], every_statement()[name])


def blanks_of(table: WorkTable) -> dict[str, str]:
    return {
        "table": table.name,
        "error": table.error,
        "facts": ", ".join(table.facts),
        "row": ", ".join(f"t.{name}" for name in (*ROW, *table.reads)),
        "budget": table.budget,
        "edges": table.edges,
        "new_facts": ", ".join(merged(name) if name in table.merges else f"r.{name}" for name in table.facts),
        "refill": ""
        if table.budget == "retry_count"
        else f"{table.budget} = CASE WHEN $3 THEN t.{table.budget} ELSE 0 END, ",
        "has_children": "t.has_children" if table.edges else "false",
    }


def merged(name: str) -> str:
    return f"t.{name} || COALESCE(v.facts -> '{name}', '{{}}')"


@cache
def every_statement() -> dict[str, str]:
    _, *parts = TITLE.split(files("glisk.engine").joinpath("work.sql").read_text())
    return {name: without_comments(body) for name, body in zip(parts[::2], parts[1::2], strict=True)}


def without_comments(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if line and not line.startswith("--"))
