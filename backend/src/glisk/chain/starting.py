"""Before a contract is followed: can it be, and from which block on?"""

from __future__ import annotations

from glisk.chain import calls, cursor
from glisk.chain.mint import Contract, Header
from glisk.chain.rpc.call import NotThere
from glisk.chain.rpc.pool import Rpc
from glisk.engine.link import Link
from glisk.errors import NotFollowable, StartUnknown

ERC721, ERC1155 = "0x80ac58cd", "0xd9b67a26"


async def begin(link: Link, rpc: Rpc, contract: Contract, start: int | None) -> None:
    """Writes down where reading begins. Asked once for each contract; whoever is first is right."""
    await require_collection(rpc, contract)
    first = await deployed_in(rpc, contract) if start is None else start
    parent = await parent_of(rpc, first)
    await cursor.create(link.fetch, contract, first, parent, await first_token(rpc, contract, first))


async def require_collection(rpc: Rpc, contract: Contract) -> None:
    asked = (calls.supports(contract, ERC721), calls.supports(contract, ERC1155))
    answer = await rpc.ask(calls.code(contract, calls.LATEST), *asked)
    code, is_721, is_1155 = answer.results
    if not code:
        raise NotFollowable(f"There is no contract at {contract.address} on chain {contract.chain_id}.")
    if is_1155 and not is_721:
        raise NotFollowable(
            f"{contract.address} is an ERC-1155 contract: its ids stand for many copies. Glisk follows ERC-721 only."
        )
    if not is_721:
        raise NotFollowable(f"{contract.address} does not say that it is an ERC-721 contract (ERC-165).")


async def deployed_in(rpc: Rpc, contract: Contract) -> int:
    """By halving: the first block that has its code."""
    (head,) = (await rpc.ask(calls.block(calls.LATEST))).results
    low, high = 0, head.number
    while low < high:
        middle = (low + high) // 2
        (code,) = (await rpc.ask(calls.code(contract, middle))).results
        if code is None:
            raise StartUnknown(f"The endpoints have no state of block {middle}.")
        low, high = (low, middle) if code else (middle + 1, high)
    return low


async def parent_of(rpc: Rpc, first: int) -> bytes:
    if first == 0:
        return cursor.NOTHING
    answer = await rpc.ask(calls.block(first - 1))
    header: Header | None = answer.results[0]
    if header is None:
        raise NotThere(f"{answer.endpoint} does not have block {first - 1}")
    return header.hash


async def first_token(rpc: Rpc, contract: Contract, first: int) -> int | None:
    """Where the collection counts: the token that was next before the first block, or, when it was deployed in that, after it."""
    if first > 0:
        (before,) = (await rpc.ask(calls.next_token_id(contract, first - 1))).results
        if before is not None:
            return int(before)
    (at_first, now) = (
        await rpc.ask(calls.next_token_id(contract, first), calls.next_token_id(contract, calls.LATEST))
    ).results
    return None if now is None or at_first is None else int(at_first)
