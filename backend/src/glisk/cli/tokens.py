"""glisk tokens: look at tokens, decide about those in review, send them on again, stop them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer

from glisk import service, settings
from glisk.cli import output, person, price, telling, watching
from glisk.repositories import rerunning, timeline
from glisk.repositories.failure_board import FailureBoard
from glisk.repositories.timeline import Story
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


def a_condition(text: str) -> str:
    """As an expression that a code fits."""
    if not (found := re.fullmatch(r"error=(GLK-[0-9xX]{3})", text)):
        raise typer.BadParameter(
            f"{text!r} is no condition: say error=GLK-302, or error=GLK-3xx for all that begin so."
        )
    return found[1].lower().replace("glk", "GLK").replace("x", "[0-9]")


class Step(StrEnum):
    GENERATING = rerunning.GENERATING
    PINNING = rerunning.PINNING
    REVEALING = rerunning.REVEALING


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
    """One token with everything that happened to it: each try of each step, what it cost, how long it waited and worked."""

    async def look(board: TokenBoard) -> tuple[dict[str, Any], dict[str, Any], Story]:
        (found,) = await required(board, [token], contract)
        return await board.whole(found.id), await board.history(found.id), await timeline.story(board.link, found.id)

    whole, history, story = on_the_board(look)
    if as_json:
        output.document({**whole, **history})
    else:
        telling.token(whole, story)


@app.command()
def watch(token: TokenId, contract: Contract = None) -> None:
    """Follow one token until it ends: a line for everything that happens to it.

    Exit code 0: it is revealed; 1: it failed, was orphaned, or waits for you in review."""

    async def follow(board: TokenBoard) -> str:
        (found,) = await required(board, [token], contract)
        return await watching.until_ended(board, found.id)

    if on_the_board(follow) != rerunning.REVEALED:
        raise typer.Exit(1)


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
    where: Annotated[
        str | None,
        typer.Option(
            parser=a_condition,
            metavar="error=GLK-3xx",
            help="All that failed by an error of this code, where x is any digit; `glisk explain` lists the codes.",
        ),
    ] = None,
    contract: Contract = None,
    reason: Reason = None,
    yes: output.Yes = False,
) -> None:
    """Send failed tokens back to the first step whose results they lack. A picture that is there is not drawn again."""
    if [bool(tokens), failed, where is not None].count(True) != 1:
        raise typer.BadParameter(
            "Name tokens by their ids, or say --failed for all that failed, or --where error=CODE."
        )
    seen = look_at(tokens, contract) if tokens else on_the_board(lambda board: failures(board, contract or ANY, where))
    output.confirm(f"Retry {counted(seen)}?", yes=yes or len(seen) < 2)
    tell("retried", seen, on_the_board(lambda board: board.retry(seen, person.name(), reason)))


@app.command()
def rerun(
    tokens: TokenIds,
    step: Annotated[
        Step, typer.Option("--from", help="The step to begin with: all that follow it are done again too.")
    ],
    contract: Contract = None,
    reason: Reason = None,
    yes: output.Yes = False,
) -> None:
    """Send tokens through a step once more, whatever they are at. A picture that is revealed is not changed any more."""
    seen = look_at(tokens, contract)
    able = [token for token in seen if not rerunning.refusal(token, step)]
    if able:
        output.confirm(f"Send {counted(able)} back to {step}? {price.of_rerun(step, len(able))}", yes=yes)
    tell("sent back", seen, on_the_board(lambda board: board.rerun(seen, step, person.name(), reason)))


@app.command()
def cancel(tokens: TokenIds, contract: Contract = None, reason: Reason = None, yes: output.Yes = False) -> None:
    """End tokens that wait or are at work: they are failed until somebody retries them."""
    seen = look_at(tokens, contract)
    output.confirm(f"Cancel {counted(seen)}?", yes=yes)
    tell("cancelled", seen, on_the_board(lambda board: board.cancel(seen, person.name(), reason)))


async def failures(board: TokenBoard, of: Collection, where: str | None) -> list[Seen]:
    every = await board.every_failed(of)
    if where is None:
        return every
    groups = (await FailureBoard(board.link).failures()).groups
    ids = {id for group in groups if re.fullmatch(where, group.cause.code) for id in group.ids}
    return [token for token in every if token.id in ids]


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
        output.refuse(f"There is no token {token_id}{f' of {contract}' if contract else ''}.")
    if len(found) > 1:
        candidates = ", ".join(str(Collection(token.contract_address, token.chain_id)) for token in found)
        raise typer.BadParameter(
            f"Several collections have a token {token_id}. Add --contract with one of: {candidates}."
        )
    return found[0]


def counted(tokens: Sequence[Seen]) -> str:
    return f"token {tokens[0].token_id}" if len(tokens) == 1 else f"{len(tokens)} tokens"


def tell(done: str, asked: Sequence[Seen], outcome: Outcome) -> None:
    left = [f"{len(some)} not {done}: {reason} ({named(some)})." for reason, some in outcome.left.items()]
    output.tell(f"{len(outcome.moved)} of {len(asked)} {done}.", left)


def named(tokens: Sequence[Seen]) -> str:
    return ", ".join([token.token_id for token in tokens[:MOST_NAMED]] + ["…"] * (len(tokens) > MOST_NAMED))
