"""glisk lanes: what each provider may be asked at once, and whether it is held."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from glisk import service, settings
from glisk.cli import output, person
from glisk.engine import lanes
from glisk.engine.link import Link

app = typer.Typer(help="See, hold, resume and limit the lanes to the providers.", no_args_is_help=True)
T = TypeVar("T")

MOST_AT_ONCE = 1_000_000


def a_rate(text: str) -> float:
    try:
        rate = 0 if text == "none" else float(text)
    except ValueError:
        rate = math.nan
    if rate != 0 and not lanes.SLOWEST <= rate <= lanes.ANY_RATE:
        raise typer.BadParameter(f"{text!r} is no rate: say calls a second ({lanes.SLOWEST:f} or more), or none.")
    return rate or lanes.ANY_RATE


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
def hold(
    lane: Name,
    said: Annotated[str | None, typer.Argument(metavar="REASON", help="Why; everybody will read it.")] = None,
    reason: Annotated[str | None, typer.Option(help="The same, as other commands have it.")] = None,
) -> None:
    """Claim nothing for this provider until it is resumed. What is under way goes on."""
    if bool(said) == bool(reason):
        raise typer.BadParameter("Say why, once: REASON or --reason.")
    why = said or reason or ""
    if problem := lanes.reason_problem(why):
        raise typer.BadParameter(f"The reason: {problem}.")
    if over_a_link(lambda link: on(link, lane, lanes.hold(link, lane, why, actor=person.name()))):
        typer.echo(f"{lane} is held.")
    else:
        typer.echo(f"{lane} was held already, and its reason stands: glisk lanes ls")


@app.command()
def resume(lane: Name) -> None:
    """Let a held or closed lane go on."""
    over_a_link(lambda link: on(link, lane, lanes.resume(link, lane, actor=person.name())))
    typer.echo(f"{lane} is open.")


@app.command()
def limit(
    lane: Name,
    concurrency: Annotated[
        int,
        typer.Argument(min=1, max=MOST_AT_ONCE, help="How many calls at once. To let none through: glisk lanes hold."),
    ],
    rate: Annotated[
        float | None,
        typer.Option(parser=a_rate, metavar="R", help="How many calls a second; none or 0 for no limit."),
    ] = None,
) -> None:
    """Change how many calls may be under way at once, and how many a second. Without --rate that stays as it is."""
    over_a_link(lambda link: on(link, lane, lanes.limit(link, lane, concurrency, rate, actor=person.name())))
    seconds = {None: "", lanes.ANY_RATE: ", as often as it likes"}.get(rate, f", {rate} a second")
    typer.echo(f"{lane} takes {concurrency} at once{seconds}.")


async def on(link: Link, lane: str, change: Awaitable[bool]) -> bool:
    """Whether it changed something. That a lane is not there is another thing."""
    changed = await change
    names = [] if changed else [row["lane"] for row in await lanes.every_lane(link)]
    if not changed and lane not in names:
        output.refuse(f"There is no lane {lane!r}. There are: {', '.join(names) or 'none yet'}.")
    return changed
