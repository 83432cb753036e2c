"""Did we see every mint? Where a collection numbers its tokens one after the other, the numbers tell."""

from __future__ import annotations

from collections.abc import Iterable

from glisk.chain.mint import Mint


def reaches(first: int, mints: Iterable[Mint]) -> int:
    """From `first` on, the first id that none of them minted."""
    reached = first
    for start, end in sorted((mint.first_token_id, mint.first_token_id + mint.quantity) for mint in mints):
        if start > reached:
            break
        reached = max(reached, end)
    return reached


def is_whole(first: int, mints: Iterable[Mint], expected: int | None) -> bool:
    """None is missing between `first` and what the contract says comes next; where it does not say, between any two."""
    found = list(mints)
    wanted = (
        max((mint.first_token_id + mint.quantity for mint in found), default=first) if expected is None else expected
    )
    return reaches(first, found) >= wanted
