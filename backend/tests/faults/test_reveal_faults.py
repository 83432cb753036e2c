"""What nodes, databases, chains and people do to a reveal that is on its way: it is finished once, and every wei is in the ledger."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from glisk.chain.rpc.classify import SEND
from glisk.chain.sending import nonces
from glisk.chain.statements import statement
from glisk.dev.chain_contract import KEEPER
from glisk.engine import control
from glisk.engine.link import Link
from glisk.processors import revealing
from glisk.processors.revealing import Revealing
from glisk.workflows import TOKENS
from tests.chains import Chain, a_chain
from tests.cutter import Moment, cutter_before
from tests.relay import Stop, asks, relay_before
from tests.revealing import BLOCK_TIME, STEADY, Stage, unpacked

GWEI = 10**9

pytestmark = pytest.mark.faults


@pytest.fixture
async def stage(database_url: str, connection: Any, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_chain(BLOCK_TIME) as chain:
        yield Stage(database_url, connection, chain, tmp_path / "data", await chain.deploy_collection())


async def all_is_paid(stage: Stage, before: int) -> None:
    """And nothing is open."""
    spent = before - await stage.balance()
    assert await stage.value("SELECT sum(paid_wei) FROM chain_tx WHERE state = 'mined'") == spent
    assert await stage.value("SELECT sum(wei) FROM attempts WHERE step = 'revealing'") == spent
    assert await stage.value("SELECT count(*) FROM attempts WHERE outcome = 'open'") == 0
    assert await stage.value("SELECT count(*) FROM chain_nonce WHERE outcome IS NULL") == 0
    numbers = await stage.rows("SELECT nonce FROM chain_nonce ORDER BY nonce")
    assert [row["nonce"] for row in numbers] == list(range(await stage.nonce()))


async def revealed_once(stage: Stage, tokens: int, before: int) -> None:
    assert await stage.uris(1, tokens) == [f"ipfs://metadata-{n}" for n in range(1, tokens + 1)]
    assert sorted(await stage.updates()) == list(range(1, tokens + 1))
    assert await stage.skipped() == 0
    assert await stage.value("SELECT max(retry_count) FROM tokens_s0") == 0
    await all_is_paid(stage, before)


# Lost on the way


@pytest.mark.parametrize("stop", Stop)
async def test_a_lost_answer_of_a_node_sends_nothing_else(stage: Stage, stop: Stop) -> None:
    await stage.minted(5)
    before = await stage.balance()
    async with relay_before(stage.chain.url) as relay:
        relay.aim(asks(SEND), stop, is_cut=True)
        far = replace(stage, chain=Chain(relay.port, stage.chain.client))
        await far.revealed(5, far.together(5))
        assert relay.has_stopped.is_set()
        assert len({unpacked(raw) for raw in relay.sent}) == 1
    assert await stage.value("SELECT count(*) FROM chain_tx") == 1
    await revealed_once(stage, 5, before)


@pytest.mark.parametrize("moment", [Moment.BEFORE, Moment.AFTER, Moment.COMMITTED])
@pytest.mark.parametrize("name", ["keep_claims", "take_nonce", "store_transaction", "retire", "mine"])
async def test_a_lost_connection_to_the_database_stores_nothing_twice(
    stage: Stage, database_url: str, name: str, moment: Moment
) -> None:
    await stage.minted(4)
    before = await stage.balance()
    async with cutter_before(database_url) as (cutter, url):
        cutter.aim({statement(name)}, moment)
        await replace(stage, url=url).revealed(4, stage.together(4))
        assert cutter.has_cut.is_set()
    assert await stage.value("SELECT count(*) FROM chain_tx") == 1
    await revealed_once(stage, 4, before)


async def test_a_transaction_whose_commit_was_still_on_its_way_is_not_stored_again(stage: Stage) -> None:
    """The connection broke, the server had not noticed, and whoever stored it looks whether it is there."""
    await stage.minted(2)
    links = [Link(stage.url), Link(stage.url)]
    wallet = nonces.Wallet(stage.chain.chain_id, KEEPER)
    claims = [Held(row["id"], row["epoch"]) for row in await stage.rows("SELECT id, epoch FROM tokens_s0")]
    await nonces.know(links[0], wallet)
    async with links[0].transaction() as first:
        await nonces.keep_claims(first, claims)  # type: ignore[arg-type] # has what it needs of a claim
        again = asyncio.create_task(kept(links[1], claims))
        await stage.until_blocked()
        content = nonces.Content(stage.contract, b"", 2)
        await nonces.take(first, wallet, 0, content, claims)  # type: ignore[arg-type] # likewise
    assert await again == set()
    for link in links:
        await link.close()


class Held:
    """As much of a claim as is stored."""

    worker = "w"

    def __init__(self, id: int, epoch: int) -> None:
        self.id, self.epoch = id, epoch


async def kept(link: Link, claims: Any) -> set[int]:
    try:
        async with link.transaction() as fetch:
            await nonces.keep_claims(fetch, claims)
    except nonces.Gone as gone:
        return set(gone.kept)
    return {claim.id for claim in claims}


# The chain


async def test_a_chain_set_back_after_it_was_mined_and_before_it_was_settled(stage: Stage) -> None:
    await stage.minted(5)
    before = await stage.balance()
    await stage.stop_mining()
    await stage.chain.mine(4)
    async with stage.at_work(stage.together(5, confirmations=4)) as processor:
        await stage.hasten(processor)
        await stage.until_sent(1)
        await stage.chain.mine(3)
        assert await stage.nonce() == 1
        await stage.chain.rollback(3)
        assert await stage.nonce() == 0
        await stage.until_sent(1)
        await stage.chain.mine(6)
        await stage.until("status = 'revealed'", 5)
    assert await stage.value("SELECT count(*) FROM chain_tx") == 1
    await revealed_once(stage, 5, before)


async def test_a_nonce_is_given_up_only_when_no_block_can_give_it_back(stage: Stage) -> None:
    """Somebody else used it, and that was undone: ours is still good, and those after it need it."""
    await stage.minted(3)
    await stage.stop_mining()
    await stage.chain.mine(20)
    async with relay_before(stage.chain.url) as relay:
        far = replace(stage, chain=Chain(relay.port, stage.chain.client))
        async with far.at_work(far.together(3, confirmations=10)):
            await stage.until_sent(1)
            await stage.chain.ask("anvil_dropAllTransactions")
            await stage.reveal_by_hand([1], ["ipfs://theirs"])
            await stage.chain.mine()
            for _ in range(30):  # far more often than it takes to believe it
                relay.aim(asks("eth_getTransactionReceipt"), Stop.AFTER)
                await relay.has_stopped.wait()
                relay.let_go()
            await stage.chain.rollback(1)
            await stage.chain.ask("anvil_dropAllTransactions")
            await stage.until_sent(1)
            await stage.chain.mine(12)
            await stage.until("status = 'revealed'", 3)
    assert await stage.rows("SELECT nonce, outcome FROM chain_nonce") == [{"nonce": 0, "outcome": "done"}]
    assert await stage.uris(1, 3) == [f"ipfs://metadata-{n}" for n in range(1, 4)]


async def test_gas_that_jumps_up_and_down_costs_what_it_costs_once(stage: Stage) -> None:
    await stage.minted(5)
    before = await stage.balance()
    await stage.stop_mining()
    with capture_logs() as logs:
        await gas_jumps(stage, logs)
    assert len([each for each in logs if "to become cheaper" in each["event"]]) == 1
    states = await stage.rows("SELECT state, max_fee_wei, content FROM chain_tx ORDER BY created_at")
    assert [row["state"] for row in states].count("mined") == 1
    assert max(row["max_fee_wei"] for row in states) <= 300 * GWEI
    assert len({row["content"] for row in states}) == 1
    await revealed_once(stage, 5, before)


async def gas_jumps(stage: Stage, logs: Sequence[Any]) -> None:
    async with stage.at_work(stage.together(5, stuck_after=1, max_fee_gwei=300)) as processor:
        await stage.hasten(processor)
        await stage.until_sent(1)
        for n, price in enumerate((20, 90, 250), start=2):
            await stage.base_fee(price * GWEI)
            assert await stage.nonce() == 0
            await stage.until_sent(n)
        await stage.base_fee(5000 * GWEI)  # beyond what may be paid: it waits, and says so once
        while not any("to become cheaper" in each["event"] for each in logs):
            await asyncio.to_thread(os.sched_yield)
        await stage.base_fee(GWEI // 10)
        await stage.go_on_mining()
        await stage.until("status = 'revealed'", 5)


async def test_one_that_was_replaced_may_be_mined_all_the_same(stage: Stage) -> None:
    await stage.minted(5)
    before = await stage.balance()
    await stage.stop_mining()
    async with stage.at_work(stage.together(5, stuck_after=1)):
        await stage.until_sent(1)
        await stage.base_fee(20 * GWEI)
        await stage.until_sent(2)
        old = await stage.value("SELECT raw FROM chain_tx WHERE state = 'replaced' ORDER BY created_at LIMIT 1")
        await stage.chain.ask("anvil_dropAllTransactions")
        await stage.base_fee(GWEI // 10)
        await stage.chain.ask("eth_sendRawTransaction", f"0x{old.hex()}")
        await stage.chain.mine(3)
        await stage.until("status = 'revealed'", 5)
    assert await stage.value("SELECT raw FROM chain_tx WHERE state = 'mined'") == old
    assert await stage.value("SELECT count(*) FROM chain_tx WHERE state = 'live'") == 0
    await revealed_once(stage, 5, before)


async def test_two_workers_with_one_key_raise_its_fees_together(stage: Stage) -> None:
    await stage.minted(24)
    before = await stage.balance()
    await stage.stop_mining()
    few = stage.settings(reveal_batch=4, stuck_after=1)
    link = Link(stage.url)
    async with stage.at_work(few, name="one") as one, stage.at_work(few, name="two") as two:
        await stage.until("status = 'revealing'", 24)
        await stage.until_sent(6)
        finishing = [asyncio.create_task(each.finish(link)) for each in (one, two)]
        await stage.base_fee(30 * GWEI)
        await stage.until_replaced(1)
        await stage.base_fee(60 * GWEI)
        await stage.go_on_mining()
        await stage.until("status = 'revealed'", 24)
        await asyncio.gather(*finishing)
    await link.close()
    await revealed_once(stage, 24, before)


# People


async def test_a_worker_that_is_stopped_while_it_waits_leaves_no_second_transaction(stage: Stage) -> None:
    await stage.minted(5)
    before = await stage.balance()
    await stage.stop_mining()
    async with stage.at_work(stage.together(5), pace=replace(STEADY, drain=timedelta(seconds=0.1))):
        await stage.until_sent(1)
    rows = await stage.rows("SELECT DISTINCT status, retry_count, leased_by FROM tokens_s0")
    assert rows == [{"status": "ready", "retry_count": 0, "leased_by": None}]
    assert await stage.rows("SELECT DISTINCT outcome FROM attempts") == [{"outcome": "open"}]
    await stage.go_on_mining()
    await stage.revealed(5, stage.together(5))
    assert await stage.value("SELECT count(*) FROM chain_tx") == 1
    await revealed_once(stage, 5, before)


async def test_a_token_cancelled_while_its_transaction_is_on_its_way_is_paid_for(stage: Stage) -> None:
    await stage.minted(4)
    before = await stage.balance()
    await stage.stop_mining()
    link = Link(stage.url)
    async with stage.at_work(stage.together(4)) as processor:
        await stage.until_sent(1)
        id = await stage.value("SELECT id FROM tokens_s0 WHERE token_id = 2")
        assert await control.cancel(link, TOKENS, [id], "somebody") == [id]
        await stage.go_on_mining()
        await stage.until("status = 'revealed'", 3)
        await tended(processor, link)
    rows = await stage.rows("SELECT outcome, count(*) FROM attempts GROUP BY 1 ORDER BY 1")
    assert rows == [{"outcome": "cancelled", "count": 1}, {"outcome": "done", "count": 3}]
    assert await stage.value("SELECT status FROM tokens_s0 WHERE token_id = 2") == "failed"
    await all_is_paid(stage, before)
    await link.close()


async def test_a_transaction_whose_tokens_are_all_cancelled_is_followed_to_its_end(stage: Stage) -> None:
    await stage.minted(3)
    before = await stage.balance()
    await stage.stop_mining()
    link = Link(stage.url)
    async with stage.at_work(stage.together(3)):
        await stage.until_sent(1)
        ids = [row["id"] for row in await stage.rows("SELECT id FROM tokens_s0")]
        await control.cancel(link, TOKENS, ids, "somebody")
    await stage.chain.ask("anvil_dropAllTransactions")  # the node forgets it, and nobody works on them any more
    await stage.go_on_mining()
    processor = Revealing(stage.settings())
    await tended(processor, link)
    await processor.close()
    assert await stage.rows("SELECT DISTINCT outcome FROM attempts") == [{"outcome": "cancelled"}]
    await all_is_paid(stage, before)
    await link.close()


async def test_what_takes_longer_than_the_periodic_work_has_is_followed_all_the_same(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.minted(2)
    before = await stage.balance()
    await stage.stop_mining()
    link, ids = Link(stage.url), [1, 2]
    async with stage.at_work(stage.together(2)):
        await stage.until_sent(1)
        await control.cancel(link, TOKENS, ids, "somebody")
    monkeypatch.setattr(revealing, "TENDING", timedelta(seconds=0.05))
    processor = Revealing(stage.settings())
    await tended(processor, link)
    following = processor.tending
    await tended(processor, link)
    assert following is processor.tending
    assert following
    assert not following.done()
    await stage.chain.mine(3)
    await asyncio.wait([following])
    await tended(processor, link)
    await all_is_paid(stage, before)
    await processor.close()
    await link.close()


async def tended(processor: Revealing, link: Link) -> None:
    (work,) = processor.works(link)
    await work.run()
