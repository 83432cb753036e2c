"""What counts of the mints that one page of logs tells of: a token is often told of twice."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from glisk.chain.mint import BATCH_MINTED, TRANSFER, Mint

Range: TypeAlias = tuple[int, int]  # the first and the last token, both among them
Transaction: TypeAlias = tuple[bytes, bytes]  # and the block it is in: it may be mined again


def merged(mints: list[Mint]) -> list[Mint]:
    """Each log once, in the chain's order, without those whose tokens another log of the same transaction tells of and knows
    more: a batch knows the author, a range is shorter than its transfers."""
    once = {(mint.block_hash, mint.log_index): mint for mint in reversed(mints)}.values()
    batches = ranges(mint for mint in once if mint.kind == BATCH_MINTED)
    runs = ranges(mint for mint in once if mint.kind != TRANSFER)
    kept = (
        mint
        for mint in once
        if mint.kind == BATCH_MINTED or not covers(runs if mint.kind == TRANSFER else batches, mint)
    )
    return sorted(kept, key=lambda mint: (mint.block_number, mint.log_index))


def ranges(mints: Iterable[Mint]) -> dict[Transaction, list[Range]]:
    """Of each transaction: in order, apart from each other."""
    found: dict[Transaction, list[Range]] = defaultdict(list)
    for mint in mints:
        found[mint.block_hash, mint.tx_hash].append((mint.first_token_id, mint.first_token_id + mint.quantity - 1))
    return {transaction: joined(sorted(several)) for transaction, several in found.items()}


def joined(several: list[Range]) -> list[Range]:
    apart = several[:1]
    for first, last in several[1:]:
        if first <= apart[-1][1] + 1:
            apart[-1] = apart[-1][0], max(last, apart[-1][1])
        else:
            apart.append((first, last))
    return apart


def covers(found: dict[Transaction, list[Range]], mint: Mint) -> bool:
    several = found.get((mint.block_hash, mint.tx_hash))
    if several is None:
        return False
    first, last = mint.first_token_id, mint.first_token_id + mint.quantity - 1
    at = bisect_right(several, first, key=lambda range: range[0]) - 1
    return at >= 0 and last <= several[at][1]
