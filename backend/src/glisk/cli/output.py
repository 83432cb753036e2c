"""How commands speak: tables on a terminal, tab-separated text in a pipe, JSON when asked; one way to ask and to fail."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from glisk.errors import GliskError

WRONG_USAGE = 2
LARGEST_EXACT = 2**53  # a larger number loses digits in most JSON readers

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # of a text that anybody may have written: it must not steer the terminal

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1_000_000, help="At most so many, the newest first.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def rows(records: Sequence[Mapping[str, Any]], *, as_json: bool, empty: str) -> None:
    """A list of things; in a pipe the names of the columns come first. `empty` is the sentence for none: no part of the list."""
    if as_json:
        print(json.dumps([{name: plain(value) for name, value in record.items()} for record in records], indent=2))
    elif not records:
        typer.echo(empty, nl=bool(empty), err=not sys.stdout.isatty())
    elif not sys.stdout.isatty():
        names = [name.strip() for name in records[0]]
        for cells in [names] * any(names) + [[shown(value) for value in record.values()] for record in records]:
            print("\t".join(map(on_one_line, cells)))
    else:
        Console(markup=False, emoji=False).print(table(records))


def one(record: Mapping[str, Any], history: Mapping[str, Sequence[Mapping[str, Any]]], *, as_json: bool) -> None:
    """One thing, and everything that happened to it."""
    if as_json:
        document({**record, **history})
        return
    rows([{"": name, " ": value} for name, value in record.items() if value is not None], as_json=False, empty="")
    rows(history["timeline"], as_json=False, empty="Nothing has happened to it yet.")
    rows(history["attempts"], as_json=False, empty="Nothing was paid for it.")


def document(record: Mapping[str, Any]) -> None:
    """One thing, as JSON, whatever it is made of."""
    print(
        json.dumps(
            record, indent=2, default=lambda value: value.isoformat() if isinstance(value, datetime) else str(value)
        )
    )


def table(records: Sequence[Mapping[str, Any]]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    names = [*records[0]]
    for name in names:  # of the first and the last nothing is cut off: those say which it is, and what became of it
        grid.add_column(name, overflow="fold" if name in (names[0], names[-1]) else "ellipsis")
    for record in records:
        grid.add_row(*("\n".join(map(on_one_line, shown(value).splitlines())) for value in record.values()))
    return grid


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    is_exact = (
        value is None
        or isinstance(value, str | bool | float)
        or (isinstance(value, int) and abs(value) <= LARGEST_EXACT)
    )
    return value if is_exact else str(value)


def shown(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    return "" if value is None else str(value)


def on_one_line(text: str) -> str:
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def confirm(question: str, *, yes: bool) -> None:
    """Before anything is destroyed. In a pipe nobody can answer, so only --yes will do."""
    if yes:
        return
    if not sys.stdin.isatty():
        refuse(f"{question} Nobody is here to ask: add --yes.", WRONG_USAGE)
    typer.confirm(question, abort=True)


def refuse(sentence: str, exit_code: int = 1) -> NoReturn:
    """For what was asked rightly and cannot be done, as with a thing that is not there: how to ask would not help."""
    typer.echo(sentence, err=True)
    raise typer.Exit(exit_code)


def tell(done: str, left: Sequence[str]) -> None:
    """What was done; and where something was not, that and why in one place, and exit code 1."""
    if left:
        refuse("\n".join([done, *left]))
    typer.echo(done)


def complain(error: GliskError) -> None:
    message, *details = str(error).splitlines()
    lines = [f"{error.code}  {message}", *(f"  {line}" for line in details), f"         Fix    {typeable(error.fix)}"]
    print("\n".join([*lines, f"         More   {typeable('glisk explain')} {error.code}"]), file=sys.stderr)


def typeable(command: str) -> str:
    """As it can be typed here, where `glisk` alone may not be found."""
    if shutil.which("glisk"):
        return command
    program = os.path.relpath(Path(sys.executable).parent / "glisk")
    return re.sub(r"(?<![\w/.-])glisk(?= [a-z])", program, command)


def say(part: str, seconds: float) -> None:
    """A part is up."""
    typer.echo(f"✓ {seconds:4.1f} s  {part}")
