"""glisk keys: who may do more than look, when the world can reach us."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from glisk import service, settings
from glisk.cli import output, person
from glisk.repositories import users
from glisk.repositories.key_repository import KeyRepository, Terms

app = typer.Typer(help="Make, list and revoke the keys that operators and programs use.", no_args_is_help=True)
T = TypeVar("T")

LONGEST_NAME = 100


class Scope(StrEnum):
    OPERATOR = "operator"
    USER = "user"
    WORKER = "worker"


def a_name(text: str) -> str:
    """None is that of whoever asks."""
    name = text.strip() if text else person.name()[:LONGEST_NAME]
    if not 1 <= len(name) <= LONGEST_NAME:
        raise typer.BadParameter(f"A name has 1 to {LONGEST_NAME} characters.")
    return name


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="keys")


def in_the_repository(action: Callable[[KeyRepository], Awaitable[T]]) -> T:
    return service.over_a_link(settings.load(), lambda link: action(KeyRepository(link)))


@app.command()
def create(
    name: Annotated[
        str, typer.Argument(callback=a_name, show_default="your name", help="Whose it is, or what for.")
    ] = "",
    scope: Annotated[
        Scope, typer.Option(help="What it opens: an operator may do everything, a user sees what is theirs.")
    ] = Scope.OPERATOR,
    user: Annotated[str, typer.Option(metavar="ID", help="Whose things a user's key opens; else its name's.")] = "",
    rate: Annotated[int | None, typer.Option(min=1, max=10**6, help="Requests a minute, of a user's key.")] = None,
    daily_limit: Annotated[
        float | None,
        typer.Option(min=0, max=10**5, metavar="DOLLARS", help="What a day of a user's previews may cost."),
    ] = None,
    as_json: output.Json = False,
) -> None:
    """Make a key. It is printed once, alone on the standard output, and kept nowhere."""
    if scope is not Scope.USER and (user or rate or daily_limit is not None):
        raise typer.BadParameter("--user, --rate and --daily-limit are for keys with --scope user.")
    if scope is Scope.USER and not users.is_name(user or name):
        raise typer.BadParameter(f"As the id of a user, {users.WANTED}: --user ID.")
    terms = Terms(user, rate, None if daily_limit is None else Decimal(str(daily_limit)))
    secret = in_the_repository(lambda keys: keys.make(name, scope, person.name(), terms))
    if as_json:
        output.document({"name": name, "scope": scope, "key": secret})
    else:
        typer.echo(secret)
    typer.echo("Keep it: it is shown only now. Use it at /login, or send it: Authorization: Bearer glk_…", err=True)


@app.command()
def ls(as_json: output.Json = False) -> None:
    """The keys, without the keys themselves: whose they are, what they open, when they were used last."""
    output.rows(in_the_repository(lambda keys: keys.every()), as_json=as_json, empty="There are no keys yet.")


@app.command()
def revoke(
    key: Annotated[int, typer.Argument(metavar="ID", min=1, max=2**31 - 1, help="Its id, as `ls` shows it.")],
    yes: output.Yes = False,
) -> None:
    """End a key: from now on it opens nothing."""
    output.confirm(f"Revoke key {key}?", yes=yes)
    if not in_the_repository(lambda keys: keys.revoke(key, person.name())):
        output.refuse(f"There is no key {key}, or it was revoked before: glisk keys ls")
    typer.echo(f"Key {key} is revoked.")
