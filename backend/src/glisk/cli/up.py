"""glisk up, glisk serve: the running service."""

from __future__ import annotations

import typer

from glisk import logs, service, settings


def mount(app: typer.Typer) -> None:
    app.command()(up)
    app.command()(serve)


def up() -> None:
    """Run everything in one process: what is not set is embedded."""
    found = settings.load()
    logs.configure(found)
    service.up(found, say)
    typer.echo(f"Stopped. The data stays in {found.shown_dir}: `make run` goes on with it, `make clean` wipes it.")


def serve() -> None:
    """Run the HTTP server alone."""
    found = settings.load()
    logs.configure(found)
    service.serve(found, say)


def say(part: str, seconds: float) -> None:
    typer.echo(f"✓ {seconds:4.1f} s  {part}")
