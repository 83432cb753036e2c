"""What becomes of tokens whose mint left the chain, and of those that were mined again.

Nothing is deleted. A mint that left the chain leaves its token as it is, for most are mined again a block later; when the place
where it was is confirmed without it, the token is orphaned. Mined again for the same author, it goes on where it was, with its
picture and what that cost. Mined again for another author, the picture is archived in the timeline and another is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from glisk.chain.mint import Columns, Contract
from glisk.chain.statements import statement
from glisk.engine import control
from glisk.engine.control import Move
from glisk.engine.store import Fetch
from glisk.engine.workflow import FAILED, REVIEW
from glisk.repositories.token_board import FORGET_PRINTS, TO_DRAW, UNDRAWN, first_missing
from glisk.workflows import TOKENS

ORPHANED, AGAIN = "orphaned", "mined again"
CANCELLED = control.CANCELLED.format(actor="")
MINT = ("block_number", "block_hash", "log_index", "tx_hash", "token_id", "quantity", "minter", "author")

UNREACHED = "Its mint left the chain and was not mined again"


async def attach(fetch: Fetch, contract: Contract, mints: Columns, actor: str) -> set[int]:
    """Tokens that are there already get the mint that counts now. Which did."""
    of = (contract.chain_id, contract.address)
    await fetch(statement("lock_tokens"), *of, mints.first, mints.quantity)
    rows = await fetch(statement("minted_before"), *of, *mints)
    if not rows:
        return set()
    others = [row for row in rows if not row["is_same"]]
    if others:
        await hand_over(fetch, others, actor)
    await fetch(statement("attach"), *columns(rows, "id", "number", "hash", "log", "tx", "minter"))
    await resume(fetch, [row for row in rows if row["is_same"] and row["status"] == ORPHANED], actor)
    return {row["id"] for row in rows}


async def hand_over(fetch: Fetch, rows: Sequence[Any], actor: str) -> None:
    """To another author, whose prompt is drawn instead."""
    ids = [row["id"] for row in rows]
    await fetch(statement("archive"), ids, actor)
    await fetch(statement("give_up"), ids)
    await fetch(statement("hand_over"), *columns(rows, "id", "author_id"))
    await fetch(FORGET_PRINTS, ids)
    undrawn = {**UNDRAWN, "prompt_source": "author"}
    await move(fetch, rows, Move(TO_DRAW, actor, reason="mined again for another author", facts=undrawn))


async def resume(fetch: Fetch, rows: Iterable[Any], actor: str) -> None:
    """Each at the first step whose facts are missing; what a person had to decide, or has decided, stays with that person."""
    ways: defaultdict[tuple[str, str | None], list[Any]] = defaultdict(list)
    for row in rows:
        ways[way_of(row)].append(row)
    for (status, error), some in ways.items():
        facts = {"generation_attempts": 0} if status == TO_DRAW else {}
        await move(fetch, some, Move(status, actor, error, reason=AGAIN, facts=facts))


def way_of(row: Any) -> tuple[str, str | None]:
    """The status, and the error if it ends there."""
    if is_cancelled(row):
        return FAILED, row["error"].removeprefix(f"{UNREACHED}. ")
    if row["was_in_review"]:
        return REVIEW, AGAIN
    return first_missing(is_drawn=row["is_drawn"], is_pinned=row["is_pinned"]), None


async def orphan(fetch: Fetch, contract: Contract, first: int, last: int, actor: str) -> int:
    """Those whose mint was in these blocks, left the chain, and did not come back. How many."""
    rows = await fetch(statement("left_behind"), contract.chain_id, contract.address, first, last)
    return await let_go(fetch, contract, rows, actor)


async def let_go(fetch: Fetch, contract: Contract, rows: Sequence[Any], actor: str) -> int:
    """Of their mint. One that was minted before as well, and burned, goes back to that mint; the others are orphaned. How many."""
    if not rows:
        return 0
    others = await fetch(statement("still_minted"), contract.chain_id, contract.address, *columns(rows, "id"))
    kept = await attach(fetch, contract, Columns(*columns(others, *MINT)), actor) if others else set()
    groups: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        if row["id"] not in kept:
            groups[f"{UNREACHED}. {row['error']}" if is_cancelled(row) else UNREACHED].append(row)
    for said, some in groups.items():
        await move(fetch, some, Move(ORPHANED, actor, said))
    return len(rows) - len(kept)


def is_cancelled(row: Any) -> bool:
    """By a person, whose word stands also when it is mined again."""
    return CANCELLED in (row["error"] or "")


async def move(fetch: Fetch, rows: Iterable[Any], to: Move) -> None:
    """From whatever status they are in, at work or ended: it is the chain that says so."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        groups[row["status"]].append(row["id"])
    for status, ids in groups.items():
        moved = Move(to.status, to.actor, to.error, status, to.reason, to.facts)
        await control.move(fetch, TOKENS, sorted(ids), moved)


def columns(rows: Iterable[Any], *names: str) -> list[list[Any]]:
    return [[row[name] for row in rows] for name in names]
