"""Reads work.sql: each statement by its name, with the names of one work table filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from glisk.engine.workflow import WorkTable

ROW = ("id", "epoch", "priority", "retry_count")  # what the engine itself reads of a claimed row
FIRST_FACT = {"note": 5, "settle": 10, "control": 9}  # the number of the parameter
GRANTED = "(SELECT COALESCE(max(n), 0) FROM granted)"  # how many a laned claim takes, where others take $3
WAITS = "finished_at IS NULL AND leased_by IS NULL"  # as the index of what waits says it, or it is not used
FLOOR = " AND ready_at >= CASE WHEN level.priority = $7 THEN to_timestamp($8::float8) ELSE '-infinity' END"
TITLE = re.compile(r"^-- (name|part): (\w+) \(.*\)$", re.MULTILINE)
BLANK = re.compile(r"\{(\w+)\}")


@cache
def statement(
    name: str,
    table: WorkTable | None = None,
    facts: tuple[str, ...] = (),
    *,
    suspects: bool = False,
    counted: tuple[WorkTable, ...] = (),
) -> str:
    """The text is composed from checked names of WorkTables and nothing else. Some statements need none; those that write
    facts are made for just the columns named, those that count what is at work for the tables to count in."""
    blanks = blanks_of(table) | facts_of(name, table, facts) if table else {}
    blanks |= {"pick": every_statement()["pick"], "take": every_statement("part")["take"]}
    blanks["live"] = " + ".join(filled(every_statement("part")["live"], blanks_of(each)) for each in counted)
    blanks["limit"] = GRANTED if name == "claim_in_lane" else "$3"
    blanks["floor"] = FLOOR if name == "claim" else ""
    blanks["suspects"] = f" AND reclaims {'>=' if suspects else '<'} 2"
    return filled(every_statement()[name], blanks)


def filled(text: str, blanks: Mapping[str, str]) -> str:
    """What is filled in may have blanks of its own."""
    return BLANK.sub(lambda blank: filled(blanks[blank[1]], blanks), text)


def blanks_of(table: WorkTable) -> dict[str, str]:
    return {
        "table": table.name,
        "waits": WAITS,
        "error": table.error,
        "row": ", ".join(f"t.{name}" for name in (*ROW, *table.reads)),
        "budget": table.budget,
        "edges": table.edges,
        "has_children": "t.has_children" if table.edges else "false",
    }


def facts_of(statement: str, table: WorkTable, names: tuple[str, ...]) -> dict[str, str]:
    """The facts are a statement's last parameters, an array each where it writes many rows."""
    first = FIRST_FACT.get(statement, 1)
    places = [(f"${first + n}", table.facts[name]) for n, name in enumerate(names)]
    return {
        "sets": "".join(f", {name} = {merged(name) if name in table.merges else f'v.{name}'}" for name in names),
        "arrays": "".join(f", {place}::{type}[]" for place, type in places),
        "scalars": "".join(f", {place}::{type}" for place, type in places),
        "names": "".join(f", {name}" for name in names),
    }


def merged(name: str) -> str:
    return f"t.{name} || COALESCE(v.{name}, '{{}}')"


@cache
def every_statement(kind: str = "name") -> dict[str, str]:
    """Those that are run; or each `part`, which stands only inside of others."""
    return titled(files("glisk.engine").joinpath("work.sql").read_text(), kind)


def titled(text: str, kind: str) -> dict[str, str]:
    """What a file of statements has under the titles of this kind."""
    _, *found = TITLE.split(text)
    sections = zip(found[::3], found[1::3], found[2::3], strict=True)
    return {name: without_comments(body) for its_kind, name, body in sections if its_kind == kind}


def without_comments(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if line and not line.startswith("--"))
