"""What a person lets be read again: history from before, a range that is in doubt, the whole count."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from msgspec import Struct

from glisk.chain import auditing, calls, cursor, reattaching
from glisk.chain.auditing import Audit, Progress, add
from glisk.chain.cursor import Cursor
from glisk.chain.mint import Contract, Header, Mint
from glisk.chain.paging import Reader
from glisk.chain.reading import Read
from glisk.chain.rpc.call import NotThere
from glisk.chain.rpc.pool import Rpc
from glisk.chain.statements import statement
from glisk.chain.taking import take
from glisk.engine.link import Link
from glisk.engine.store import Fetch
from glisk.errors import DeepReorg, NotFollowed

AT_ONCE = 8
ACTOR = "person"


class Added(Struct, frozen=True):
    blocks: int
    mints: int
    tokens: int


class Ghost(Struct, frozen=True):
    """A token whose mint is not on the chain."""

    token_id: int
    block: int


class OtherAuthor(Struct, frozen=True):
    token_id: int
    had: str
    has: str


class Difference(Struct, frozen=True):
    """Between the chain and the table."""

    missing: list[Mint]
    ghosts: list[Ghost]
    others: list[OtherAuthor]

    def __bool__(self) -> bool:
        return bool(self.missing or self.ghosts or self.others)


async def position(link: Link, contract: Contract) -> Cursor:
    """How far it is followed. Raises NotFollowed."""
    rows = await link.fetch(statement("read_cursor"), contract.chain_id, contract.address)
    if not rows:
        raise NotFollowed(f"Asked for: {contract}.")
    return cursor.as_cursor(contract, rows[0])


async def backfill(link: Link, rpc: Rpc, contract: Contract, first: int, last: int, progress: Progress) -> Added:
    """Adds what is missing in these blocks, whether they come before those that are followed or not."""
    blocks = mints = tokens = 0
    async with aclosing(Reader(rpc, contract, AT_ONCE, depth=0).reads(first, last)) as reads:
        async for found in reads:
            taken = await add(link, contract, found.page)
            blocks, mints, tokens = found.last.number - first + 1, mints + taken.logs, tokens + taken.born
            progress(blocks, last - first + 1, tokens)
    return Added(blocks, mints, tokens)


async def audit(link: Link, rpc: Rpc, contract: Contract, progress: Progress) -> Audit:
    return await auditing.audit(link, rpc, await position(link, contract), progress)


async def replay(
    link: Link, rpc: Rpc, contract: Contract, first: int, last: int, progress: Progress, *, dry_run: bool = False
) -> Difference:
    """What these blocks say now against what the table has. Unless it is a trial, the table is made to agree, and whoever was
    halted goes on."""
    at = await position(link, contract)
    await require_same_below(link, rpc, contract, first)
    difference, tokens = Difference([], [], []), 0
    async with aclosing(Reader(rpc, contract, AT_ONCE, depth=0).reads(first, last)) as reads:
        async for found in reads:
            part = await compared(link, contract, found)
            difference = joined(difference, part)
            if part and not dry_run:
                await mend(link, contract, found)
            tokens += sum(mint.quantity for mint in found.page.mints)
            progress(found.last.number - first + 1, last - first + 1, tokens)
    if at.halted and not dry_run and first <= at.confirmed_no:
        await go_on(link, contract, found)
    return difference


async def require_same_below(link: Link, rpc: Rpc, contract: Contract, first: int) -> None:
    """Or the repair would begin above the damage."""
    rows = await link.fetch(statement("last_below"), contract.chain_id, contract.address, first)
    for row in rows:
        answer = await rpc.ask(calls.block(row["block_number"]))
        header: Header | None = answer.results[0]
        if header is None:
            raise NotThere(f"{answer.endpoint} does not have block {row['block_number']}")
        if header.hash != row["block_hash"]:
            said = f"Block {row['block_number']}, which has mints, was replaced as well."
            raise DeepReorg(said, fix=f"Begin lower: glisk chain replay --from {row['block_number']}")


async def compared(link: Link, contract: Contract, found: Read) -> Difference:
    rows = await link.fetch(statement("held"), contract.chain_id, contract.address, found.first, found.last.number)
    held = {int(row["token_id"]): row for row in rows}
    minted = {mint.first_token_id + n: mint for mint in found.page.mints for n in range(mint.quantity)}
    missing = {id(mint): mint for token, mint in minted.items() if token not in held}
    ghosts = [Ghost(token, row["number"]) for token, row in held.items() if not is_minted(row, minted.get(token))]
    others = [
        OtherAuthor(token, row["author"], minted[token].author)
        for token, row in held.items()
        if token in minted and row["author"] != minted[token].author
    ]
    return Difference(list(missing.values()), ghosts, others)


def is_minted(row: Any, mint: Mint | None) -> bool:
    return mint is not None and mint.block_hash == row["hash"]


async def mend(link: Link, contract: Contract, found: Read) -> None:
    async with link.transaction() as fetch:
        await fetch(statement("lock_cursor"), contract.chain_id, contract.address)
        mints = found.page.mints
        there = ([m.block_hash for m in mints], [str(m.first_token_id) for m in mints], [m.quantity for m in mints])
        await fetch(
            statement("leave_all_but"), contract.chain_id, contract.address, found.first, found.last.number, *there
        )
        await take(fetch, contract, found.page)
        await reattaching.orphan(fetch, contract, found.first, found.last.number, ACTOR)


async def go_on(link: Link, contract: Contract, found: Read) -> None:
    """From the last block that was compared: what was detected above it is read again. The epoch tells whoever has the seat."""
    next_token_id = None if found.next_token_id is None else str(found.next_token_id)
    async with link.transaction() as fetch:
        await above(fetch, contract, found.last.number)
        terms = (contract.chain_id, contract.address, found.last.number, found.last.hash, next_token_id)
        await fetch(statement("go_on"), *terms)
        await cursor.tell(fetch, "resumed", ACTOR, contract, block=found.last.number)


async def above(fetch: Fetch, contract: Contract, number: int) -> None:
    await fetch(statement("leave"), contract.chain_id, contract.address, number)
    await fetch(statement("cool"), contract.chain_id, contract.address, number, number)


def joined(one: Difference, other: Difference) -> Difference:
    return Difference(one.missing + other.missing, one.ghosts + other.ghosts, one.others + other.others)
