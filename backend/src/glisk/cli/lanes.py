"""glisk lanes: what each provider may be asked at once, and whether it is held."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from glisk import service, settings
from glisk.cli import output
from glisk.engine import lanes
from glisk.engine.link import Link

app = typer.Typer(help="See, hold, resume and limit the lanes to the providers.", no_args_is_help=True)
T = TypeVar("T")

Name = Annotated[str, typer.Argument(help="The lane's name, as `ls` shows it.")]


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="lanes")


def over_a_link(action: Callable[[Link], Awaitable[T]]) -> T:
    return service.over_a_link(settings.load(), action)


@app.command()
def ls(as_json: output.Json = False) -> None:
    """Every lane with its limits, and why it is held if it is."""
    found = over_a_link(lanes.every_lane)
    output.rows(found, as_json=as_json, empty="There are no lanes yet: the first worker makes them.")


@app.command()
def hold(lane: Name, reason: Annotated[str, typer.Argument(help="Why; everybody will read it.")]) -> None:
    """Claim nothing for this provider until it is resumed. What is under way goes on."""
    tell(
        lane,
        over_a_link(lambda link: lanes.hold(link, lane, reason)),
        f"{lane} is held.",
        "is not there, or held already",
    )


@app.command()
def resume(lane: Name) -> None:
    """Let a held or closed lane go on."""
    tell(lane, over_a_link(lambda link: lanes.resume(link, lane)), f"{lane} is open.", "is not there")


@app.command()
def limit(lane: Name, concurrency: Annotated[int, typer.Argument(min=0, help="How many calls at once.")]) -> None:
    """Change how many calls may be under way at once."""
    changed = over_a_link(lambda link: lanes.limit(link, lane, concurrency))
    tell(lane, changed, f"{lane} takes {concurrency} at once.", "is not there")


def tell(lane: str, is_done: bool, sentence: str, otherwise: str) -> None:
    if not is_done:
        raise typer.BadParameter(f"The lane {lane!r} {otherwise}.")
    typer.echo(sentence)
