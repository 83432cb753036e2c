"""glisk up, glisk serve: the running service."""

from __future__ import annotations

import typer

from glisk import hosting, logs, settings
from glisk.cli import output


def mount(app: typer.Typer) -> None:
    app.command()(up)
    app.command()(serve)


def up() -> None:
    """Run everything in one process: what is not set is embedded."""
    found = settings.load()
    logs.configure(found)
    hosting.up(found, output.say)
    typer.echo(f"Stopped. The data stays in {found.shown_dir}: `make run` goes on with it, `make clean` wipes it.")


def serve() -> None:
    """Run the HTTP server alone."""
    found = settings.load()
    logs.configure(found)
    hosting.serve(found, output.say)
