"""The chain that tests run on: it does what it is told to, and tells the truth about it."""

from __future__ import annotations

import pytest
from eth_abi.exceptions import DecodingError

from tests.chains import AUTHOR, STRANGER, Chain, Refused, request


async def test_a_reorg_takes_mints_away_and_brings_others(chain: Chain) -> None:
    await chain.deploy_collection()
    await chain.mint(AUTHOR, 2)
    await chain.mint(AUTHOR, 1)
    before, head = await chain.mints(), await chain.head()
    await chain.reorg(1, [(chain.mint_request(STRANGER, 2), 0)])
    after = await chain.mints()
    assert after[:2] == before[:2]
    assert [(token.token_id, token.author) for token in after[2:]] == [(3, STRANGER), (4, STRANGER)]
    assert (await chain.head()).number == head.number
    assert (await chain.head()).parent_hash == head.parent_hash
    assert after[2].block_hash == (await chain.head()).hash != head.hash


async def test_the_truth_about_collections_of_other_makers(chain: Chain) -> None:
    plain = await chain.deploy("PlainERC721")
    row = await chain.deploy("Consecutive", AUTHOR, 3)
    await chain.transact(request(plain, "mint(address,uint256)", STRANGER, 7))
    await chain.transact(request(row, "mint(address)", STRANGER))
    assert [token[:3] for token in await chain.mints(plain)] == [(7, STRANGER, STRANGER)]
    assert [token[:2] for token in await chain.mints(row)] == [(0, AUTHOR), (1, AUTHOR), (2, AUTHOR), (3, STRANGER)]
    with pytest.raises((Refused, DecodingError)):
        await chain.call(plain, "nextTokenId()", returns="uint256")


async def test_without_automine_mints_wait_for_a_block(chain: Chain) -> None:
    await chain.deploy_collection()
    await chain.automine(False)
    await chain.mint()
    await chain.mint(minter=STRANGER)
    assert await chain.mints() == []
    await chain.mine()
    assert {token.block_hash for token in await chain.mints()} == {(await chain.head()).hash}


async def test_a_snapshot_and_a_rollback_lead_back(chain: Chain) -> None:
    await chain.deploy_collection()
    before, snapshot = await chain.head(), await chain.snapshot()
    await chain.mint(quantity=2)
    await chain.revert(snapshot)
    assert (await chain.head(), await chain.mints()) == (before, [])
    await chain.mint(quantity=3)
    await chain.mine(2)
    await chain.rollback(3)
    assert (await chain.head(), await chain.mints()) == (before, [])
