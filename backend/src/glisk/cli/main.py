"""The command line: every noun has a file of its own, loaded when it is used."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from glisk import __version__
from glisk.cli import output
from glisk.errors import GliskError
from glisk.workers.signals import INTERRUPTED

# Every command and the module that mounts it.
COMMANDS = {
    "up": "up",
    "serve": "up",
    "work": "work",
    "listen": "listen",
    "migrate": "migrate",
    "doctor": "doctor",
    "tokens": "tokens",
    "authors": "authors",
    "jobs": "jobs",
    "lanes": "lanes",
    "chain": "chain",
    "spend": "spend",
    "keys": "keys",
    "verify": "verify",
    "workflows": "workflows",
    "config": "config",
    "explain": "explain",
    "psql": "database",
    "dump": "database",
    "backup": "backup",
    "restore": "backup",
    "clean": "clean",
    "standin": "standin",
    "bench": "bench",
}


class Commands(TyperGroup):
    """Imports the module of a command when that is used: a list of jobs need not wait for a web server to load."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        holder = typer.Typer()
        importlib.import_module(f"glisk.cli.{COMMANDS[cmd_name]}").mount(holder)
        return typer.main.get_group(holder).commands[cmd_name]


app = typer.Typer(
    name="glisk",
    cls=Commands,
    help="Every mint becomes art. No mint is lost, no image is paid for twice.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
        sys.exit(INTERRUPTED)
