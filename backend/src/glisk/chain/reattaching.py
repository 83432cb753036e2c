"""What becomes of tokens whose mint left the chain, and of those that were mined again.

Nothing is deleted. A mint that left the chain leaves its token as it is, for most are mined again a block later; when the place
where it was is confirmed without it, the token is orphaned. Mined again for the same author, it goes on where it was, with its
picture and what that cost. Mined again for another author, the picture is archived in the timeline and another is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from glisk.chain.mint import Contract
from glisk.chain.statements import statement
from glisk.engine import control
from glisk.engine.control import Move
from glisk.engine.store import Fetch
from glisk.engine.workflow import REVIEW
from glisk.repositories.token_board import FORGET_PRINTS, TO_DRAW, UNDRAWN, first_missing
from glisk.workflows import TOKENS

ORPHANED = "orphaned"
MINT = ("block_number", "block_hash", "log_index", "tx_hash", "token_id", "quantity", "minter", "author")

UNREACHED = "Its mint left the chain and was not mined again"


async def attach(fetch: Fetch, mints: tuple[Any, ...], actor: str) -> int:
    """Tokens that are there already get the mint that counts now. How many did."""
    chain_id, contract, _, _, _, _, first, quantity, *_ = mints
    await fetch(statement("lock_tokens"), chain_id, contract, first, quantity)
    rows = await fetch(statement("minted_before"), *mints)
    if not rows:
        return 0
    others = [row for row in rows if not row["is_same"]]
    if others:
        await hand_over(fetch, others, actor)
    await fetch(statement("attach"), *columns(rows, "id", "number", "hash", "log", "tx", "minter"))
    await resume(fetch, [row for row in rows if row["is_same"] and row["status"] == ORPHANED], actor)
    return len(rows)


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
    """Each at the first step whose facts are missing; one that a person had to look at waits for that person still."""
    ways: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        step = first_missing(is_drawn=row["is_drawn"], is_pinned=row["is_pinned"])
        ways[REVIEW if row["was_in_review"] else step].append(row)
    for status, some in ways.items():
        said = "mined again"
        facts = {"generation_attempts": 0} if status == TO_DRAW else {}
        await move(fetch, some, Move(status, actor, said if status == REVIEW else None, reason=said, facts=facts))


async def orphan(fetch: Fetch, contract: Contract, first: int, last: int, actor: str) -> int:
    """Those whose mint was in these blocks, left the chain, and did not come back. How many."""
    within = (contract.chain_id, contract.address, first, last)
    rows = await fetch(statement("left_behind"), *within)
    if not rows:
        return 0
    others = await fetch(statement("still_minted"), *within[:2], columns(rows, "id")[0])
    if others:
        await attach(fetch, (*within[:2], *columns(others, *MINT)), actor)
        rows = await fetch(statement("left_behind"), *within)
    await move(fetch, rows, Move(ORPHANED, actor, UNREACHED))
    return len(rows)


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
