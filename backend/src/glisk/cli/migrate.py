"""glisk migrate: the schema up, down, and where it stands."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from glisk import logs, service, settings
from glisk.cli import output
from glisk.db import migrate

app = typer.Typer(help="Bring the database's schema up to date; `down` goes back, `status` tells.")


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="migrate")


@app.callback(invoke_without_command=True)
def up(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        with service.database(configured()) as url:
            migrate.upgrade(url)
            typer.echo(f"The schema is at {asyncio.run(migrate.status(url)).current}.")


@app.command()
def down(
    to: Annotated[str, typer.Option(help="A revision, `base` for none, or -N for N steps.")] = "-1",
    yes: output.Yes = False,
) -> None:
    """Go back. The columns and tables that the older schema lacks are dropped with what is in them; tokens never are."""
    found = configured()
    output.confirm(f"Go down to {to} and drop what that schema cannot hold?", yes=yes)
    with service.database(found) as url:
        migrate.downgrade(url, to)
        typer.echo(f"The schema is at {asyncio.run(migrate.status(url)).current or 'nothing'}.")


@app.command()
def status(as_json: output.Json = False) -> None:
    """Every migration that ran here, with how it ended."""
    with service.database(configured()) as url:
        found = asyncio.run(migrate.status(url))
    runs = [run.model_dump(include={"name", "direction", "finished_at", "ok", "exception"}) for run in found.runs]
    output.rows(
        [{**run, "exception": first_line(run["exception"])} for run in runs], as_json=as_json, empty="None yet."
    )
    if not as_json:
        typer.echo(f"The schema is at {found.current or 'nothing'}; this Glisk wants {found.head}.", err=True)


def first_line(exception: str | None) -> str | None:
    return exception.splitlines()[0] if exception else None


def configured() -> settings.Settings:
    found = settings.load()
    logs.configure(found)
    return found
