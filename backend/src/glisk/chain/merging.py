"""What counts of the mints that one page of logs tells of: a token is often told of twice."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TypeAlias

from glisk.chain.mint import BATCH_MINTED, CONSECUTIVE, TRANSFER, Mint

IDS = 2**256

Range: TypeAlias = tuple[int, int]  # the first and the last token, both among them
Transaction: TypeAlias = tuple[bytes, bytes]  # and the block it is in: it may be mined again


def merged(mints: list[Mint]) -> list[Mint]:
    """Each log once, in the chain's order, without those whose tokens another log of the same transaction tells of and knows
    more: a batch knows the author, a range is shorter than its transfers."""
    once = list({(mint.block_hash, mint.log_index): mint for mint in reversed(mints)}.values())
    batches = ranges(mint for mint in once if mint.kind == BATCH_MINTED)
    runs = ranges(mint for mint in once if mint.kind != TRANSFER) if has(once, CONSECUTIVE) else batches
    better = {BATCH_MINTED: {}, CONSECUTIVE: batches, TRANSFER: runs}
    kept = [mint for mint in once if not is_told(mint, better[mint.kind])]
    kept.sort(key=lambda mint: (mint.block_number, mint.log_index))
    return kept


def has(mints: list[Mint], kind: str) -> bool:
    return any(mint.kind == kind for mint in mints)


def ranges(mints: Iterable[Mint]) -> dict[Transaction, list[Range]]:
    """Of each transaction: in order, apart from each other."""
    found: dict[Transaction, list[Range]] = {}
    for mint in mints:
        told = (mint.first_token_id, mint.first_token_id + mint.quantity - 1)
        found.setdefault((mint.block_hash, mint.tx_hash), []).append(told)
    for transaction, several in found.items():
        if len(several) > 1:
            found[transaction] = joined(sorted(several))
    return found


def joined(several: list[Range]) -> list[Range]:
    apart = several[:1]
    for first, last in several[1:]:
        if first <= apart[-1][1] + 1:
            apart[-1] = apart[-1][0], max(last, apart[-1][1])
        else:
            apart.append((first, last))
    return apart


def is_told(mint: Mint, found: dict[Transaction, list[Range]]) -> bool:
    several = found.get((mint.block_hash, mint.tx_hash)) if found else None
    if several is None:
        return False
    first, last = mint.first_token_id, mint.first_token_id + mint.quantity - 1
    begins, ends = several[0] if len(several) == 1 else several[bisect_right(several, (first, IDS)) - 1]
    return begins <= first and last <= ends
