"""Before a contract is followed: can it be, and from which block on?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from glisk.chain import calls, cursor
from glisk.chain.mint import Contract, Header
from glisk.chain.rpc.call import Call, NotThere
from glisk.chain.rpc.pool import Rpc
from glisk.engine.link import Link
from glisk.errors import NotFollowable, StartUnknown

T = TypeVar("T")

TRIES = 5
ERC721, ERC1155 = "0x80ac58cd", "0xd9b67a26"


async def begin(link: Link, rpc: Rpc, contract: Contract, start: int | None) -> None:
    """Writes down where reading begins. Asked once for each contract; whoever is first is right."""
    await require_collection(rpc, contract)
    first = await deployed_in(rpc, contract) if start is None else start
    parent = await parent_of(rpc, first)
    await cursor.create(link.fetch, contract, first, parent, await first_token(rpc, contract, first))


async def require_collection(rpc: Rpc, contract: Contract) -> None:
    code = await surely(rpc, calls.code(contract, calls.LATEST), bool)
    is_721 = await surely(rpc, calls.supports(contract, ERC721), bool)
    is_1155 = None if is_721 else await surely(rpc, calls.supports(contract, ERC1155), bool)
    if code is None:
        raise NotThere("no endpoint has the state of its latest block")
    if not code:
        raise NotFollowable(f"There is no contract at {contract.address} on chain {contract.chain_id}.")
    if is_1155:
        said = "an ERC-1155 contract: its ids stand for many copies. Glisk follows ERC-721 only."
        raise NotFollowable(f"{contract.address} is {said}")
    if not is_721:
        raise NotFollowable(f"{contract.address} does not say that it is an ERC-721 contract (ERC-165).")


async def deployed_in(rpc: Rpc, contract: Contract) -> int:
    """By halving: the first block that has its code."""
    answer = await rpc.ask(calls.block(calls.LATEST))
    head: Header | None = answer.results[0]
    if head is None:
        raise NotThere(f"{answer.endpoint} has no blocks")
    low, high = 0, head.number
    while low < high:
        middle = (low + high) // 2
        code = await surely(rpc, calls.code(contract, middle))
        if code is None:
            raise StartUnknown(f"The endpoints have no state of block {middle}.")
        low, high = (low, middle) if code else (middle + 1, high)
    return low


def is_known(found: object) -> bool:
    return found is not None


async def surely(rpc: Rpc, call: Call[T | None], is_enough: Callable[[object], bool] = is_known) -> T | None:
    """Asked several times until it is: one node that is behind, and has not seen the contract yet, must not decide it."""
    found: T | None = None
    for attempt in range(TRIES):
        found = (await rpc.ask(call)).results[0]
        if is_enough(found):
            break
        await asyncio.sleep(0.02 * attempt)
    return found


async def parent_of(rpc: Rpc, first: int) -> bytes:
    if first == 0:
        return cursor.NOTHING
    answer = await rpc.ask(calls.block(first - 1))
    header: Header | None = answer.results[0]
    if header is None:
        raise NotThere(f"{answer.endpoint} does not have block {first - 1}")
    return header.hash


async def first_token(rpc: Rpc, contract: Contract, first: int) -> int | None:
    """Where the collection counts: the token that was next before the first block, or, when it was deployed later, then. None: it does
    not count, or nobody knows any more from where on."""
    if await surely(rpc, calls.next_token_id(contract, calls.LATEST)) is None:
        return None
    before = await surely(rpc, calls.next_token_id(contract, max(first - 1, 0)))
    if before is not None:
        return before
    with suppress(StartUnknown):
        return await surely(rpc, calls.next_token_id(contract, await deployed_in(rpc, contract)))
    return None
