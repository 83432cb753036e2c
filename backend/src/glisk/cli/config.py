"""glisk config: what is set, and what could be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glisk import reference, settings, values
from glisk.cli import output

app = typer.Typer(help="Show the settings in force, or an example of all of them.", no_args_is_help=True)


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="config")


@app.command()
def show(as_json: output.Json = False) -> None:
    """The settings in force, secrets masked."""
    found = settings.load()
    output.rows(
        [
            {"variable": settings.variable(name), "value": values.masked(getattr(found, name)).strip("'")}
            for name in settings.Settings.model_fields
        ],
        as_json=as_json,
        empty="None.",
    )


@app.command()
def example() -> None:
    """Every setting with its meaning and default, as a .env file."""
    typer.echo(reference.env_example(), nl=False)


@app.command()
def docs(root: Annotated[Path, typer.Argument(help="The project's root.")] = Path()) -> None:
    """Write the pages that are made from the code."""
    reference.write(root)
