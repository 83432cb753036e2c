"""Takes mints over: logs become rows of chain_event, and tokens with the prompt of their author.

A token that is there already is told of its new mint: one that was mined again keeps its picture, one that is another author's
now is drawn anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from glisk.chain import reattaching
from glisk.chain.mint import Columns, Contract, Mint, Undecodable
from glisk.chain.statements import statement
from glisk.engine import wakeup
from glisk.engine.store import Fetch
from glisk.workflows import TOKEN

ACTOR = "listener"
AT_ONCE = 20_000  # tokens in one statement


class Page(Struct, frozen=True):
    """What some blocks say about tokens."""

    mints: list[Mint]
    undecodable: list[Undecodable]


class Taken(Struct, frozen=True):
    """How much of a page was new: logs, tokens that were born, tokens that were there and have another mint now."""

    logs: int = 0
    born: int = 0
    again: int = 0
    undecodable: int = 0


async def take(fetch: Fetch, contract: Contract, page: Page) -> Taken:
    """In the caller's transaction. What was taken before is left alone."""
    unreadable = await keep_undecodable(fetch, contract, page.undecodable)
    new = await keep_mints(fetch, contract, page.mints)
    if not new:
        return Taken(undecodable=unreadable)
    await fetch(statement("know_authors"), [mint.author for mint in new])
    born = again = 0
    for some in in_parts(new):
        counts = await bear(fetch, contract, some)
        born, again = born + counts[0], again + counts[1]
    await wakeup.notify(fetch, TOKEN.name)
    return Taken(len(new), born, again, unreadable)


async def bear(fetch: Fetch, contract: Contract, mints: Sequence[Mint]) -> tuple[int, int]:
    """How many tokens were born, and how many were there and have another mint now."""
    columns = minted(mints)
    terms = (contract.chain_id, contract.address, *columns, TOKEN.name, ACTOR)
    (born,) = await fetch(statement("bear_tokens"), *terms)
    again = await reattaching.attach(fetch, contract, columns, ACTOR) if born["n"] < sum(columns.quantity) else ()
    return born["n"], len(again)


def in_parts(mints: Sequence[Mint]) -> Iterator[list[Mint]]:
    """So that a statement ends in time, however many tokens a block has minted."""
    part: list[Mint] = []
    tokens = 0
    for mint in mints:
        if part and tokens + mint.quantity > AT_ONCE:
            yield part
            part, tokens = [], 0
        part.append(mint)
        tokens += mint.quantity
    yield part


async def keep_mints(fetch: Fetch, contract: Contract, mints: Sequence[Mint]) -> list[Mint]:
    """Those that are new to us. Where no log of their blocks is known, all are: that is history, and nothing need be compared."""
    if not mints:
        return []
    of, columns = (contract.chain_id, contract.address), minted(mints)
    terms = (*of, *columns, [mint.kind for mint in mints])
    if not await fetch(statement("knows_some"), *of, min(columns.number), max(columns.number)):
        await fetch(statement("keep_history"), *terms)
        return list(mints)
    named = (columns.hash, columns.log, columns.first, columns.quantity)
    misread = await fetch(statement("misread"), *of, *named)
    new = {(row["block_hash"], row["log_index"]) for row in await fetch(statement("keep_mints"), *terms)}
    await reattaching.let_go(fetch, contract, misread, ACTOR)
    return [mint for mint in mints if (mint.block_hash, mint.log_index) in new]


async def keep_undecodable(fetch: Fetch, contract: Contract, logs: Sequence[Undecodable]) -> int:
    if not logs:
        return 0
    columns = zip(
        *(
            (log.block_number, log.block_hash, log.log_index, log.tx_hash, log.problem, bytes(log.raw).decode())
            for log in logs
        ),
        strict=True,
    )
    return len(await fetch(statement("keep_undecodable"), contract.chain_id, contract.address, *map(list, columns)))


def minted(mints: Iterable[Mint]) -> Columns:
    rows = (
        (m.block_number, m.block_hash, m.log_index, m.tx_hash, str(m.first_token_id), m.quantity, m.minter, m.author)
        for m in mints
    )
    return Columns(*map(list, zip(*rows, strict=True)))
