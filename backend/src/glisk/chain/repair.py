"""What a person lets be read again: history from before, a range that is in doubt, the whole count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import aclosing
from typing import Any

from msgspec import Struct

from glisk.chain import auditing, calls, cursor, reattaching
from glisk.chain.auditing import Audit, Progress, add
from glisk.chain.cursor import Cursor
from glisk.chain.mint import Contract, Mint
from glisk.chain.paging import Reader
from glisk.chain.reading import Read
from glisk.chain.rpc.call import NotThere
from glisk.chain.rpc.pool import Rpc
from glisk.chain.statements import statement
from glisk.chain.taking import take
from glisk.engine.link import Link
from glisk.engine.store import Fetch
from glisk.errors import NotFollowed

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


class Replayed(Struct, frozen=True):
    """From which block on, what was different, and what still is."""

    first: int
    found: Difference
    left: Difference
    is_halted: bool = False


NONE = Difference([], [], [])


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
) -> Replayed:
    """What these blocks say now against what the table has. Unless it is a trial, the table is made to agree, and whoever was
    halted goes on. After a halt it begins as low as the chains may differ."""
    at = await position(link, contract)
    first = await common(link, rpc, at, first)
    found, left, tokens = NONE, NONE, 0
    async with aclosing(Reader(rpc, contract, AT_ONCE, depth=0).reads(first, last)) as reads:
        async for part in reads:
            now, then = await replayed(link, contract, part, dry_run=dry_run)
            found, left = joined(found, now), joined(left, then)
            tokens += sum(mint.quantity for mint in part.page.mints)
            progress(part.last.number - first + 1, last - first + 1, tokens)
    is_halted = at.halted is not None and (dry_run or last < at.confirmed_no)
    if at.halted and not is_halted:
        await go_on(link, contract, part)
    return Replayed(first, found, left, is_halted)


async def replayed(link: Link, contract: Contract, part: Read, *, dry_run: bool) -> tuple[Difference, Difference]:
    """How it differed, and how it differs now."""
    found = await compared(link, contract, part)
    if dry_run or not found:
        return found, found
    await mend(link, contract, part, [str(ghost.token_id) for ghost in found.ghosts])
    return found, await compared(link, contract, part)


async def common(link: Link, rpc: Rpc, at: Cursor, first: int) -> int:
    """Where to begin, so that the repair does not begin above the damage: after a block that both chains are known to have. Of
    blocks without mints no hash is kept."""
    below = first
    while rows := await link.fetch(statement("blocks_below"), at.contract.chain_id, at.contract.address, below):
        answer = await rpc.ask(*(calls.block(row["block_number"]) for row in rows))
        for row, header in zip(rows, answer.results, strict=True):
            if header is None:
                raise NotThere(f"{answer.endpoint} does not have block {row['block_number']}")
            if header.hash == row["block_hash"]:
                return row["block_number"] + 1 if at.halted else min(first, below)
            below = row["block_number"]
    return min(first, at.start_no) if at.halted else min(first, below)


async def compared(link: Link, contract: Contract, found: Read) -> Difference:
    mints = found.page.mints
    named = ([str(mint.first_token_id) for mint in mints], [mint.quantity for mint in mints])
    terms = (contract.chain_id, contract.address, found.first, found.last.number, *named)
    held = {int(row["token_id"]): row for row in await link.fetch(statement("held"), *terms)}
    minted: defaultdict[int, list[Mint]] = defaultdict(list)
    for mint in mints:
        for n in range(mint.quantity):
            minted[mint.first_token_id + n].append(mint)
    missing = {id(last): last for token, (*_, last) in minted.items() if not is_held(held.get(token), last)}
    ghosts = [Ghost(token, row["number"]) for token, row in held.items() if is_ghost(row, minted.get(token, ()), found)]
    others = [
        OtherAuthor(token, held[token]["author"], last.author)
        for token, (*_, last) in minted.items()
        if token in held and held[token]["hash"] == last.block_hash and held[token]["author"] != last.author
    ]
    return Difference(list(missing.values()), ghosts, others)


def is_held(row: Any, mint: Mint) -> bool:
    """By this mint or a later one: an id may be burned and minted again."""
    return row is not None and (row["number"], row["log"]) >= (mint.block_number, mint.log_index)


def is_ghost(row: Any, mints: Iterable[Mint], found: Read) -> bool:
    is_here = found.first <= row["number"] <= found.last.number
    return is_here and not any(mint.block_hash == row["hash"] for mint in mints)


async def mend(link: Link, contract: Contract, found: Read, ghosts: list[str]) -> None:
    async with link.transaction() as fetch:
        await fetch(statement("lock_cursor"), contract.chain_id, contract.address)
        mints = found.page.mints
        there = ([m.block_hash for m in mints], [str(m.first_token_id) for m in mints], [m.quantity for m in mints])
        await fetch(
            statement("leave_all_but"), contract.chain_id, contract.address, found.first, found.last.number, *there
        )
        await take(fetch, contract, found.page)
        await reattaching.orphan(fetch, contract, found.first, found.last.number, ACTOR)
        rows = await fetch(statement("unminted"), contract.chain_id, contract.address, ghosts)
        await reattaching.let_go(fetch, contract, rows, ACTOR)


async def go_on(link: Link, contract: Contract, found: Read) -> None:
    """From the last block that was compared: what was detected above it is read again. The epoch tells whoever has the seat."""
    next_token_id = cursor.digits(found.next_token_id)
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
