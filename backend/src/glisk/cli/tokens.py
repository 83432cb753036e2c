"""glisk tokens: look at tokens, decide about those in review, send failed ones on again, stop them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from glisk import service, settings
from glisk.cli import output, person
from glisk.repositories.token_board import ANY, Collection, Outcome, Seen, TokenBoard
from glisk.workflows import TOKEN

app = typer.Typer(
    help="Look at tokens, accept or reject those in review, send failed ones on again, stop them.",
    no_args_is_help=True,
)
T = TypeVar("T")

LARGEST_TOKEN_ID = 2**256 - 1
MOST_NAMED = 20  # of those that stayed


def a_token_id(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,78}", text) or int(text) > LARGEST_TOKEN_ID:
        raise typer.BadParameter(f"{text!r} is no token id: that is a number from 0 to 2^256 - 1, in decimal digits.")
    return str(int(text))


def a_collection(text: str) -> Collection:
    if not (found := re.fullmatch(r"(?:([0-9]{1,18}):)?(0x[0-9a-f]{40})", text.lower())):
        raise typer.BadParameter(
            f"{text!r} is no contract: say 0x and 40 hex digits, or CHAIN:0x… with the chain's id."
        )
    return Collection(found[2], int(found[1]) if found[1] else None)


def an_address(text: str | None) -> str | None:
    if text is not None and not re.fullmatch(r"0x[0-9a-fA-F]{40}", text):
        raise typer.BadParameter(f"{text!r} is no wallet: that is 0x and 40 hex digits.")
    return text and text.lower()


def known(status: str | None) -> str | None:
    if status is not None and status not in TOKEN.statuses():
        raise typer.BadParameter(f"No token is ever {status!r}, but: {', '.join(sorted(TOKEN.statuses()))}.")
    return status


TokenId = Annotated[str, typer.Argument(parser=a_token_id, metavar="TOKEN", help="Its id.")]
TokenIds = Annotated[list[str], typer.Argument(parser=a_token_id, metavar="TOKEN", help="Their ids.")]
SomeIds = Annotated[list[str] | None, typer.Argument(parser=a_token_id, metavar="TOKEN", help="Their ids.")]
Contract = Annotated[
    Collection | None,
    typer.Option(
        parser=a_collection,
        metavar="[CHAIN:]0x…",
        help="Of this collection: needed where several have tokens of that id.",
    ),
]
Reason = Annotated[str | None, typer.Option(help="Why; it is kept in the timeline.")]


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="tokens")


def on_the_board(action: Callable[[TokenBoard], Awaitable[T]]) -> T:
    return service.over_a_link(settings.load(), lambda link: action(TokenBoard(link)))


@app.command()
def ls(
    status: Annotated[str | None, typer.Option(callback=known, help="Only those in this status.")] = None,
    author: Annotated[
        str | None, typer.Option(callback=an_address, metavar="WALLET", help="Only those of this author.")
    ] = None,
    limit: output.Limit = 50,
    as_json: output.Json = False,
) -> None:
    """The newest tokens."""
    found = on_the_board(lambda board: board.newest(status, author, limit))
    output.rows(found, as_json=as_json, empty="There are no such tokens.")


@app.command()
def show(token: TokenId, contract: Contract = None, as_json: output.Json = False) -> None:
    """One token with everything that happened to it."""

    async def look(board: TokenBoard) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
        (found,) = await required(board, [token], contract)
        return await board.whole(found.id), await board.history(found.id)

    output.one(*on_the_board(look), as_json=as_json)


@app.command()
def accept(tokens: TokenIds, contract: Contract = None, reason: Reason = None, yes: output.Yes = False) -> None:
    """Let tokens in review go on, with the pictures that are there."""
    seen = look_at(tokens, contract)
    output.confirm(f"Accept {counted(seen)} with the pictures that are there?", yes=yes)
    tell("accepted", seen, on_the_board(lambda board: board.accept(seen, person.name(), reason)))


@app.command()
def hold(tokens: TokenIds, contract: Contract = None, reason: Reason = None) -> None:
    """Hold tokens for a look, wherever they are on their way: they are in review until you accept or reject them.

    To hold all before their reveal: GLISK_REVEAL=review, or for a while `glisk lanes hold chain`."""
    seen = look_at(tokens, contract)
    tell("held", seen, on_the_board(lambda board: board.hold(seen, person.name(), reason)))


@app.command()
def reject(tokens: TokenIds, contract: Contract = None, reason: Reason = None, yes: output.Yes = False) -> None:
    """Forget the pictures of tokens in review: each is drawn again, and paid for again."""
    seen = look_at(tokens, contract)
    output.confirm(f"Reject {counted(seen)}, and pay for new pictures?", yes=yes)
    tell("rejected", seen, on_the_board(lambda board: board.reject(seen, person.name(), reason)))


@app.command()
def retry(
    tokens: SomeIds = None,
    failed: Annotated[bool, typer.Option("--failed", help="All that failed (of --contract, if given).")] = False,
    contract: Contract = None,
    reason: Reason = None,
    yes: output.Yes = False,
) -> None:
    """Send failed tokens back to the first step whose results they lack. A picture that is there is not drawn again."""
    if failed == bool(tokens):
        raise typer.BadParameter("Name tokens by their ids, or say --failed for all that failed.")
    seen = (
        on_the_board(lambda board: board.every_failed(contract or ANY)) if failed else look_at(tokens or [], contract)
    )
    output.confirm(f"Retry {counted(seen)}?", yes=yes or len(seen) < 2)
    tell("retried", seen, on_the_board(lambda board: board.retry(seen, person.name(), reason)))


@app.command()
def cancel(tokens: TokenIds, contract: Contract = None, reason: Reason = None, yes: output.Yes = False) -> None:
    """End tokens that wait or are at work: they are failed until somebody retries them."""
    seen = look_at(tokens, contract)
    output.confirm(f"Cancel {counted(seen)}?", yes=yes)
    tell("cancelled", seen, on_the_board(lambda board: board.cancel(seen, person.name(), reason)))


def look_at(tokens: Sequence[str], contract: Collection | None) -> list[Seen]:
    return on_the_board(lambda board: required(board, tokens, contract))


async def required(board: TokenBoard, tokens: Sequence[str], contract: Collection | None) -> list[Seen]:
    """One for each id, and each once."""
    found = defaultdict[str, list[Seen]](list)
    for token in await board.named(tokens, contract or ANY):
        found[token.token_id].append(token)
    return [the_only(token_id, found[token_id], contract) for token_id in dict.fromkeys(tokens)]


def the_only(token_id: str, found: Sequence[Seen], contract: Collection | None) -> Seen:
    if not found:
        raise typer.BadParameter(f"There is no token {token_id}{f' of {contract}' if contract else ''}.")
    if len(found) > 1:
        candidates = ", ".join(str(Collection(token.contract_address, token.chain_id)) for token in found)
        raise typer.BadParameter(
            f"Several collections have a token {token_id}. Add --contract with one of: {candidates}."
        )
    return found[0]


def counted(tokens: Sequence[Seen]) -> str:
    return f"token {tokens[0].token_id}" if len(tokens) == 1 else f"{len(tokens)} tokens"


def tell(done: str, asked: Sequence[Seen], outcome: Outcome) -> None:
    typer.echo(f"{len(outcome.moved)} of {len(asked)} {done}.")
    for reason, tokens in outcome.left.items():
        names = [token.token_id for token in tokens[:MOST_NAMED]] + ["…"] * (len(tokens) > MOST_NAMED)
        typer.echo(f"{len(tokens)} not {done}: {reason} ({', '.join(names)}).", err=True)
    if outcome.left:
        raise typer.Exit(1)
