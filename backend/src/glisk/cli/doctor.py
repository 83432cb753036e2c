"""glisk doctor: is this going to work? Every part, whether it is embedded or real, and what to do about it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import msgspec
import typer

from glisk import doctor, following, service, settings
from glisk.cli import output
from glisk.doctor import Check
from glisk.errors import EmbeddedChainFailed
from glisk.settings import Settings, variable

MARKS = {"ok": "✓", "warning": "!", "broken": "✗"}


def mount(root: typer.Typer) -> None:
    root.command("doctor")(doctor_)


def doctor_(as_json: output.Json = False) -> None:
    """Look at every part: does it answer, is it embedded or real, which variable makes it real, what is to be done.

    Nothing is changed and nothing is paid. Exit code 1 if something is broken; warnings are told, and are no failure."""
    checks = examined(settings.load())
    if as_json or not sys.stdout.isatty():
        output.rows([msgspec.structs.asdict(check) for check in checks], as_json=as_json, empty="")
    else:
        tell(checks)
    if not doctor.is_well(checks):
        raise typer.Exit(1)


def examined(given: Settings) -> list[Check]:
    with service.database(given) as url:
        try:
            with following.with_chain(given) as filled:
                return asyncio.run(doctor.examine(given, url, filled))
        except EmbeddedChainFailed as error:
            found = asyncio.run(doctor.examine(given, url))
            failed = Check("chain", "broken", "embedded", str(error), variable("rpc_urls"), error.fix, 0.0)
            return [failed if check.part == "chain" else check for check in found]


def tell(checks: Sequence[Check]) -> None:
    for check in checks:
        kind = f"{check.kind:9}" if check.kind else " " * 9
        typer.echo(f"{MARKS[check.state]} {check.part:16} {kind}{check.seen}  ({check.ms:.0f} ms)")
        if check.kind == "embedded":
            typer.echo(f"{'':28}real with {check.variable}")
        if check.fix:
            typer.echo(f"{'':28}Fix  {output.typeable(check.fix)}")
    counts = {state: sum(check.state == state for check in checks) for state in MARKS}
    typer.echo(", ".join(f"{n} {state}" for state, n in counts.items() if n))
