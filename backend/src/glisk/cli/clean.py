"""glisk clean: back to an empty data directory."""

from __future__ import annotations

from typing import Annotated

import typer

from glisk import settings
from glisk.cli import output
from glisk.dev import data_dir


def mount(app: typer.Typer) -> None:
    app.command()(clean)


def clean(
    yes: output.Yes = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also when real services were paid for what is in it.")
    ] = False,
) -> None:
    """Wipe the data directory: the embedded database and everything else that is kept there."""
    found = settings.load()
    output.confirm(f"Wipe {found.shown_dir}?", yes=yes)
    wiped = data_dir.wipe(found, force=force)
    typer.echo(f"Wiped {found.shown_dir}." if wiped else f"There is no {found.shown_dir}.")
