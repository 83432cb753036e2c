"""glisk authors: whose prompts are drawn, which they are, and whether they are public."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from glisk import service, settings
from glisk.cli import output, person
from glisk.cli.tokens import an_address
from glisk.prompts import prompt_problem
from glisk.repositories.author_board import AuthorBoard, Pinned
from glisk.repositories.author_repository import AuthorRepository

app = typer.Typer(help="See authors, publish prompts for them, and set whether those are public.", no_args_is_help=True)


class Choice(StrEnum):
    NOW = "now"
    LATER = "later"
    NEVER = "never"


def drawable(prompt: str) -> str:
    if problem := prompt_problem(prompt):
        raise typer.BadParameter(f"It cannot be drawn: {problem}.")
    return prompt


FROM_NOW_ON = {
    Choice.NOW: "Prompts stand in the metadata of tokens that are pinned from now on.",
    Choice.LATER: "Tokens that are pinned from now on carry a commitment to their prompts, which can be told later.",
    Choice.NEVER: "Tokens that are pinned from now on carry a commitment to their prompts that nobody can open.",
}


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="authors")


@app.command()
def ls(limit: output.Limit = 50, as_json: output.Json = False) -> None:
    """The newest authors, their prompts and whether those are public."""
    found = settings.load()
    rows = service.over_a_link(found, lambda link: AuthorBoard(link).newest(found.prompt_disclosure, limit))
    output.rows(rows, as_json=as_json, empty="There are no authors yet: the first mint brings one.")


@app.command("set-prompt")
def set_prompt(
    wallet: Annotated[str, typer.Argument(callback=an_address, metavar="WALLET", help="The author's.")],
    prompt: Annotated[str, typer.Argument(callback=drawable, help="What is drawn for tokens minted from now on.")],
    disclosure: Annotated[
        Choice | None, typer.Option(help="Whether it is public; else as it was chosen before.")
    ] = None,
) -> None:
    """Publish a prompt for an author, in your name: it is kept as the operator's word, not as one they have signed."""
    terms = (wallet, prompt, None, disclosure, None, person.name())
    nonce = service.over_a_link(settings.load(), lambda link: AuthorRepository(link).publish(*terms))
    typer.echo(f"Prompt {nonce} of {wallet} is drawn for what is minted from now on.")


@app.command()
def disclose(
    wallet: Annotated[str, typer.Argument(callback=an_address, metavar="WALLET", help="The author's.")],
    choice: Annotated[Choice, typer.Argument(help="Whether prompts are public: now, later when told to, or never.")],
) -> None:
    """Set whether an author's prompts are public."""
    pinned = service.over_a_link(settings.load(), lambda link: AuthorBoard(link).disclose(wallet, choice))
    if pinned is None:
        output.refuse(f"There is no author {wallet}: glisk authors ls")
    typer.echo(f"{FROM_NOW_ON[choice]}\n{before(choice, pinned)}".rstrip())


def before(choice: Choice, pinned: Pinned) -> str:
    """What it means for what is pinned, which can never be changed."""
    told = []
    if pinned.openable and choice is Choice.NOW:
        told += [
            f"{pinned.openable} pinned before: their prompts are told at /metadata/…/prompt, once they are revealed."
        ]
    elif pinned.openable:
        told += [
            f"{pinned.openable} pinned before: what their metadata tells stays public; /metadata/…/prompt tells no more."
        ]
    if pinned.closed and choice is not Choice.NEVER:
        told += [f"{pinned.closed} pinned before without a salt: their prompts stay closed."]
    return "\n".join(told)
