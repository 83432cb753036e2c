"""The stretch of blocks of one contract that a command is about, and the chain and the database it is done with."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from msgspec import Struct

from glisk import logs, service, settings
from glisk.chain.mint import Contract
from glisk.cli.tokens import a_collection
from glisk.engine.link import Link
from glisk.errors import NotFollowed
from glisk.repositories.chain_board import ChainBoard, Followed
from glisk.repositories.token_board import ANY, Collection

if TYPE_CHECKING:
    from glisk.chain.rpc.pool import Rpc
    from glisk.following import Source

T = TypeVar("T")


def a_block(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise typer.BadParameter(f"{text!r} is no block: that is a number, in decimal digits.")
    return int(text)


First = Annotated[
    int | None,
    typer.Option("--from", parser=a_block, metavar="BLOCK", help="From this block on. Default: where reading began."),
]
Last = Annotated[
    int | None,
    typer.Option("--to", parser=a_block, metavar="BLOCK", help="To this block. Default: the confirmed one."),
]
Which = Annotated[
    Collection | None,
    typer.Option(
        "--contract", parser=a_collection, metavar="[CHAIN:]0x…", help="This one: needed where several are followed."
    ),
]


class Stretch(Struct, frozen=True):
    of: Followed
    first: int
    last: int
    url: str  # of the database
    source: Source

    @property
    def contract(self) -> Contract:
        return Contract(self.of.chain_id, self.of.address)

    def run(self, action: Callable[[Link, Rpc], Awaitable[T]]) -> T:
        from glisk import following  # as below

        async def act(link: Link) -> T:
            return await following.with_rpc(self.source, self.contract, lambda rpc: action(link, rpc))

        return asyncio.run(service.once(self.url, act))


@contextmanager
def chosen(which: Collection | None, first: int | None = None, last: int | None = None) -> Iterator[Stretch]:
    """What cannot be done is refused before any node is asked."""
    found = settings.load()
    logs.configure(found)
    with service.database(found) as url:
        of = asyncio.run(service.once(url, lambda link: the_only(ChainBoard(link), which)))
        first, last = limits(of, first, last)
        from glisk import following  # a status need not wait for what asks nodes to load

        with following.source(found) as source:
            yield Stretch(of, first, last, url, source)


async def the_only(board: ChainBoard, which: Collection | None) -> Followed:
    found = await board.followed(which or ANY)
    if not found:
        raise NotFollowed(f"Asked for: {which}." if which else "")
    if len(found) > 1:
        raise typer.BadParameter(f"Several are followed. Add --contract with one of: {', '.join(map(str, found))}.")
    return found[0]


def limits(of: Followed, first: int | None, last: int | None) -> tuple[int, int]:
    """What is not confirmed yet may still be replaced, and only whoever follows would notice."""
    first, last = of.start if first is None else first, of.confirmed if last is None else last
    if of.confirmed < of.start:
        raise typer.BadParameter(f"No block of {of} is confirmed yet: glisk chain status")
    if last > of.confirmed:
        ends = f"the chain ends at {of.head}" if of.head < last else "the listener reads what comes after it by itself"
        raise typer.BadParameter(f"--to {last} is beyond the confirmed block, which is {of.confirmed}: {ends}.")
    if first > last:
        raise typer.BadParameter(f"--from {first} is after --to {last}.")
    return first, last
