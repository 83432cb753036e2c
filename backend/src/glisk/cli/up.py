"""glisk up, glisk serve: the running service."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from glisk import hosting, logs, settings
from glisk.cli import output, panel

NoMint = Annotated[
    bool,
    typer.Option("--no-mint", help="Without the demo collector, who mints on the embedded chain every few seconds."),
]


def mount(app: typer.Typer) -> None:
    app.command()(up)
    app.command()(serve)


def up(no_mint: NoMint = False) -> None:
    """Run everything in one process: what is not set is embedded.

    Listener, workers, HTTP server and pages; on the embedded chain a collector who mints. `glisk doctor` tells which parts are real."""
    from glisk import everything  # takes longer to load than the server alone

    found = settings.load()
    logs.configure(found, auto="text")  # in one file with what is printed here it is to be one language
    if sys.stdout.isatty():
        logs.quieter(found)
    title = f"Glisk · {found.address} · data in {found.shown_dir} · Ctrl-C stops"
    everything.up(found, output.say, partial(panel.show, title=title), typer.echo, mints=not no_mint)
    typer.echo(f"Stopped. The data stays in {found.shown_dir}: `make run` goes on with it, `make clean` wipes it.")


def serve() -> None:
    """Run the HTTP server alone."""
    found = settings.load()
    logs.configure(found)
    hosting.serve(found, output.say)
