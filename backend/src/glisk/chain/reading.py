"""Reads a range of blocks, and believes it only if the answer hangs together."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from glisk.chain import calls
from glisk.chain.merging import merged
from glisk.chain.mint import Contract, Header, Mint, Undecodable
from glisk.chain.rpc.call import NotThere
from glisk.chain.rpc.pool import Rpc
from glisk.chain.taking import Page


class Read(Struct, frozen=True):
    """The blocks first .. last.number as one endpoint shows them, and its head. `next_token_id`: what the contract says after
    the last one, None where it does not say or the node does not know. `safe`: the number of the newest block that is."""

    first: int
    last: Header
    page: Page
    next_token_id: int | None
    safe: int | None
    head: int
    endpoint: str
    seen: int


async def read(
    rpc: Rpc,
    contract: Contract,
    first: int,
    last: int,
    *,
    depth: int,
    other_than: str | None = None,
    parent: bytes | None = None,
) -> Read:
    """All of it in one question to one endpoint. So many blocks as `depth` must have come after the last one there: a node that is
    behind may be on a branch that the others have left. With `parent`, the block before must have that hash. Raises NotThere where the
    answer is no evidence, RangeTooWide where too much was asked for."""
    before = [calls.block(first - 1)] if parent is not None and first > 0 else []
    asked = (*calls.logs_between(contract, first, last), calls.block(last), calls.next_token_id(contract, last))
    answer = await rpc.ask(*asked, calls.block(calls.LATEST), calls.tagged("safe"), *before, other_than=other_than)
    batches, transfers, end, next_token_id, head, safe, *root = answer.results
    if end is None or end.number != last or head is None or head.number < last + depth:
        raise NotThere(f"{answer.endpoint} is not {depth} blocks further than block {last} yet")
    if root and (root[0] is None or root[0].hash != parent):
        raise Uprooted(f"{answer.endpoint} has another block {first - 1}")
    page = union(Page(logs.mints, logs.undecodable) for logs in (batches, transfers))
    require_consistent(page, first, end)
    seen = batches.seen + transfers.seen
    return Read(first, end, page, next_token_id, safe and safe.number, head.number, answer.endpoint, seen)


class Uprooted(NotThere):
    """The block before is another one than we know: the node is on another branch, or the chain is."""


def require_consistent(page: Page, first: int, last: Header) -> None:
    """Every log within the range, and one hash for each block."""
    hashes = {last.number: last.hash}
    logs: Iterable[Mint | Undecodable] = (*page.mints, *page.undecodable)
    for log in logs:
        if not first <= log.block_number <= last.number:
            raise NotThere(f"a log of block {log.block_number} in an answer about {first} to {last.number}")
        if hashes.setdefault(log.block_number, log.block_hash) != log.block_hash:
            raise NotThere(f"two blocks {log.block_number} in one answer")


async def read_in_parts(
    rpc: Rpc, contract: Contract, first: int, last: int, parts: int, *, depth: int, other_than: str | None
) -> Read:
    """The same, asked for piece by piece: what is lost in a large answer may be there in a small one."""
    width = max(1, -(-(last - first + 1) // parts))
    ends = [(at, min(last, at + width - 1)) for at in range(first, last + 1, width)]
    return joined([await read(rpc, contract, *end, depth=depth, other_than=other_than) for end in ends])


def joined(reads: list[Read]) -> Read:
    end, first = reads[-1], reads[0].first
    page = union([part.page for part in reads])
    seen = sum(part.seen for part in reads)
    return Read(first, end.last, page, end.next_token_id, end.safe, end.head, end.endpoint, seen)


def union(pages: Iterable[Page]) -> Page:
    """Each log once."""
    some = list(pages)
    unread = {(log.block_hash, log.log_index): log for page in some for log in page.undecodable}
    return Page(merged([mint for page in some for mint in page.mints]), list(unread.values()))
