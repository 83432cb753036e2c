"""How far a contract has been read, who may move that on, and which blocks may still be replaced.

One process writes at a time. Whoever takes the seat moves the epoch, and every write names the epoch it belongs to: a writer
that lost its seat without noticing writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from glisk.chain.mint import Contract, Header
from glisk.chain.statements import statement
from glisk.engine.store import Fetch

NOTHING = bytes(32)  # the parent of a chain's first block


class Unseated(Exception):
    """Another process writes for this contract now."""


class Cursor(Struct, frozen=True):
    """To the tip every block was read once, to the confirmed one twice. A collection that counts its tokens has a first one
    for us, and a next one after those that are confirmed; None: it does not count."""

    contract: Contract
    epoch: int
    start_no: int
    tip_no: int
    tip_hash: bytes
    confirmed_no: int
    confirmed_hash: bytes
    safe_no: int = -1
    head_no: int = -1
    first_token_id: int | None = None
    next_token_id: int | None = None
    halted: str | None = None
    alarm: str | None = None

    def changed(self, **fields: Any) -> Cursor:
        return msgspec.structs.replace(self, **fields)


async def create(fetch: Fetch, contract: Contract, start: int, parent: bytes, next_token_id: int | None) -> None:
    """Where nothing has been read. `parent`: the hash of the block before the first."""
    terms = (contract.chain_id, contract.address, start, parent, digits(next_token_id))
    await fetch(statement("create_cursor"), *terms)


async def sit_down(fetch: Fetch, contract: Contract) -> Cursor | None:
    """From here on nobody else writes. None: nothing was read for this contract yet."""
    rows = await fetch(statement("sit_down"), contract.chain_id, contract.address)
    return as_cursor(contract, rows[0]) if rows else None


def as_cursor(contract: Contract, row: Any) -> Cursor:
    found: dict[str, Any] = dict(row)
    ids = {name: found[name] and int(found[name]) for name in ("first_token_id", "next_token_id")}
    return Cursor(contract, **{**found, **ids})


async def hot_blocks(fetch: Fetch, contract: Contract) -> dict[int, Header]:
    rows = await fetch(statement("hot_blocks"), contract.chain_id, contract.address)
    return {
        row["number"]: Header(row["number"], row["hash"], row["parent_hash"], int(row["block_at"].timestamp()))
        for row in rows
    }


async def move(fetch: Fetch, to: Cursor) -> None:
    """First in a transaction: whoever is not seated any more writes nothing after it. Raises Unseated."""
    terms = (to.contract.chain_id, to.contract.address, to.epoch, to.tip_no, to.tip_hash, to.confirmed_no)
    rest = (to.confirmed_hash, to.safe_no, to.head_no, digits(to.next_token_id), to.halted, to.alarm)
    if not await fetch(statement("move_cursor"), *terms, *rest):
        raise Unseated(f"{to.contract}: epoch {to.epoch} is over")


def digits(token_id: int | None) -> str | None:
    """As a statement takes it: it may have 78 of them."""
    return None if token_id is None else str(token_id)


async def heat(fetch: Fetch, contract: Contract, headers: Sequence[Header]) -> None:
    numbers, hashes = [header.number for header in headers], [header.hash for header in headers]
    parents = [header.parent_hash for header in headers]
    times = [datetime.fromtimestamp(header.timestamp, UTC) for header in headers]
    await fetch(statement("heat"), contract.chain_id, contract.address, numbers, hashes, parents, times)


async def cool(fetch: Fetch, to: Cursor) -> None:
    """Blocks are hot above the confirmed one, up to the tip."""
    await fetch(statement("cool"), to.contract.chain_id, to.contract.address, to.confirmed_no, to.tip_no)


async def tell(fetch: Fetch, what: str, actor: str, contract: Contract, **data: Any) -> None:
    """On the timeline of the whole, not of a token."""
    told = {"chain_id": contract.chain_id, "contract": contract.address, **data}
    await fetch(statement("tell"), what, actor, msgspec.json.encode(told).decode())


def linked(headers: Iterable[Header], parent: bytes) -> list[Header]:
    """As many as follow on each other, the first on `parent`."""
    chain: list[Header] = []
    for header in headers:
        if header.parent_hash != (chain[-1].hash if chain else parent):
            break
        chain.append(header)
    return chain
