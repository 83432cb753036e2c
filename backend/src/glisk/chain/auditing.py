"""Is every token in the table that the contract has minted? What is missing is read again, and if it stays missing, said aloud."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TypeAlias

import structlog
from msgspec import Struct

from glisk.chain import calls
from glisk.chain.book import Book
from glisk.chain.cursor import Cursor
from glisk.chain.mint import Contract
from glisk.chain.paging import Reader
from glisk.chain.rpc.call import NotThere
from glisk.chain.rpc.pool import Rpc
from glisk.chain.statements import statement
from glisk.chain.taking import Page, Taken, take
from glisk.engine.link import Link
from glisk.errors import ChainError, GhostTokens, MintsMissing

log = structlog.get_logger()

Progress: TypeAlias = Callable[[int, int, int], None]  # blocks that were read, of how many, and tokens found in them


class Gap(Struct, frozen=True):
    """Ids that are missing, and the blocks they must have been minted in."""

    first: int
    last: int
    from_block: int
    to_block: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


class Audit(Struct, frozen=True):
    """`expected`: how many tokens the contract says there are; None: it does not say. `beyond`: those it has not minted."""

    expected: int | None
    found: int
    gaps: list[Gap]
    repaired: int
    beyond: int = 0

    @property
    def is_whole(self) -> bool:
        return not self.gaps and not self.beyond and (self.expected is None or self.found >= self.expected)


async def look(book: Book, rpc: Rpc) -> None:
    """From time to time, by whoever follows."""
    result = await audit(book.link, rpc, book.at)
    if result.repaired:
        log.warning("mints were found that had been missed", tokens=result.repaired)
    await book.raise_alarm(None if result.is_whole else str(missing(result)))


def missing(result: Audit) -> ChainError:
    if result.beyond:
        return GhostTokens(f"There are {result.beyond}.")
    if result.gaps:
        shown = ", ".join(str(gap) for gap in result.gaps[:5])
        return MintsMissing(f"Tokens {shown}{' and more' if len(result.gaps) > 5 else ''}.")
    return MintsMissing(f"It has {result.expected} tokens, of which {result.found} are known.")


async def audit(link: Link, rpc: Rpc, at: Cursor, progress: Progress = lambda *_: None) -> Audit:
    """Up to the confirmed block. Gaps are read again before they count as such."""
    contract = at.contract
    if at.first_token_id is None:
        return Audit(await supplied(rpc, at), (await count(link, at))[0], [], 0)
    (next_token_id,) = (await rpc.ask(calls.next_token_id(contract, at.confirmed_no))).results
    if next_token_id is None:
        raise NotThere(f"no endpoint tells how many tokens there were at block {at.confirmed_no}")
    before = await gaps(link, at, next_token_id)
    repaired = await repair(link, rpc, contract, before, progress)
    after = await gaps(link, at, next_token_id) if repaired else before
    found, beyond = await count(link, at, next_token_id)
    return Audit(next_token_id - at.first_token_id, found, after, repaired, beyond)


async def supplied(rpc: Rpc, at: Cursor) -> int | None:
    """At least so many tokens were minted since we read: burned ones are not in the supply. None: nobody knows."""
    (supply,) = (await rpc.ask(calls.total_supply(at.contract, at.confirmed_no))).results
    if supply is None or at.start_no == 0:
        return None if supply is None else int(supply)
    asked = (calls.total_supply(at.contract, at.start_no - 1), calls.code(at.contract, at.start_no - 1))
    before, code = (await rpc.ask(*asked)).results
    if code == b"":
        before = 0  # it was deployed later
    return None if before is None else max(0, supply - before)


async def count(link: Link, at: Cursor, end: int = 2**256) -> tuple[int, int]:
    """How many tokens there are, and how many of them the contract has not minted."""
    terms = (at.contract.chain_id, at.contract.address, at.confirmed_no, str(end))
    (row,) = await link.fetch(statement("count_tokens"), *terms)
    return row["n"], row["beyond"]


async def gaps(link: Link, at: Cursor, end: int) -> list[Gap]:
    terms = (at.contract.chain_id, at.contract.address, at.confirmed_no, str(at.first_token_id), str(end), at.start_no)
    rows = await link.fetch(statement("gaps"), *terms)
    return [Gap(int(row["first"]), int(row["last"]), row["from_block"], row["to_block"]) for row in rows]


async def repair(link: Link, rpc: Rpc, contract: Contract, found: list[Gap], progress: Progress) -> int:
    """How many tokens are there now that were not."""
    reader = Reader(rpc, contract, at_once=1, depth=0)
    blocks, done, tokens = sum(gap.to_block - gap.from_block + 1 for gap in found), 0, 0
    for gap in found:
        log.warning("tokens are missing, reading again", ids=str(gap), blocks=[gap.from_block, gap.to_block])
        async with aclosing(reader.reads(gap.from_block, gap.to_block)) as reads:
            async for part in reads:
                tokens += (await add(link, contract, part.page)).born
                done += part.last.number - part.first + 1
                progress(done, blocks, tokens)
    return tokens


async def add(link: Link, contract: Contract, page: Page) -> Taken:
    """Beside whoever follows, and not at the same moment."""
    async with link.transaction() as fetch:
        await fetch(statement("lock_cursor"), contract.chain_id, contract.address)
        return await take(fetch, contract, page)
