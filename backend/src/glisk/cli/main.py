"""The command line: every noun has a file of its own, mounted here."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from glisk import __version__
from glisk.cli import clean, config, database, explain, jobs, lanes, migrate, output, up, work, workflows
from glisk.errors import GliskError

app = typer.Typer(
    name="glisk",
    help="Every mint becomes art. No mint is lost, no image is paid for twice.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (up, work, migrate, jobs, lanes, workflows, config, explain, database, clean):
    module.mount(app)


def show_version(asked: bool) -> None:
    if asked:
        print(f"glisk {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> None:
    try:
        app()
    except GliskError as error:
        if "--debug" in sys.argv[1:2]:
            raise
        output.complain(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(output.INTERRUPTED)
