"""glisk psql: PostgreSQL's own client on the database in use."""

from __future__ import annotations

import subprocess

import typer

from glisk import service, settings
from glisk.dev import postgres


def mount(app: typer.Typer) -> None:
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(psql)


def psql(context: typer.Context) -> None:
    """Open PostgreSQL's client on the database in use; further arguments go to it."""
    with service.database(settings.load()) as url:
        ended = subprocess.run([postgres.binaries() / "psql", url, *context.args], check=False)
    raise typer.Exit(ended.returncode)
