"""Pinned tokens are revealed on a real chain: in batches, once, whatever the chain does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from glisk.dev.chain_contract import KEEPER, KEEPER_KEY, OWNER
from glisk.processors.revealing import Revealing
from tests.chains import STRANGER, a_chain, request
from tests.revealing import BLOCK_TIME, STEADY, Stage

STRANGER_KEY = (
    "7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"  # of the fourth account of every such chain
)
LEDGER = "SELECT sum(wei) FROM attempts WHERE step = 'revealing'"
SPENT = "SELECT sum(paid_wei) FROM chain_tx WHERE state = 'mined'"


@pytest.fixture
async def stage(database_url: str, connection: Any, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_chain(BLOCK_TIME) as chain:
        yield Stage(database_url, connection, chain, tmp_path / "data", await chain.deploy_collection())


async def test_fifty_tokens_are_revealed_in_one_transaction(stage: Stage) -> None:
    await stage.minted(50)
    before = await stage.balance()
    await stage.revealed(50, stage.together(50))
    assert await stage.uris(1, 50) == [f"ipfs://metadata-{n}" for n in range(1, 51)]
    assert await stage.nonce() == 1
    assert await stage.value("SELECT count(*) FROM chain_tx") == 1
    assert await stage.value(LEDGER) == await stage.value(SPENT) == before - await stage.balance()
    told = await stage.rows("SELECT DISTINCT outcome, details ->> 'batch' AS batch FROM attempts")
    assert told == [{"outcome": "done", "batch": "50"}]
    row = (await stage.rows("SELECT token_uri, reveal_tx, generation_error FROM tokens_s0 WHERE token_id = 7"))[0]
    assert row["token_uri"] == "ipfs://metadata-7"
    assert row["reveal_tx"] == await stage.value("SELECT hash FROM chain_tx")
    assert row["generation_error"] is None


async def test_more_than_a_batch_takes_several_transactions_with_one_stream_of_nonces(stage: Stage) -> None:
    await stage.minted(120)
    async with stage.at_work(name="one"), stage.at_work(name="two"):
        await stage.until("status = 'revealed'", 120)
    sent = await stage.rows("SELECT nonce, state FROM chain_tx ORDER BY nonce")
    assert [row["nonce"] for row in sent] == list(range(len(sent)))
    assert {row["state"] for row in sent} == {"mined"}
    assert await stage.nonce() == len(sent)
    assert await stage.value(LEDGER) == await stage.value(SPENT)


async def test_one_that_somebody_else_revealed_is_recorded_and_holds_up_nobody(stage: Stage) -> None:
    await stage.minted(50)
    await stage.reveal_by_hand([7], ["ipfs://metadata-7"])
    await stage.reveal_by_hand([8], ["ipfs://their-own"])
    await stage.next_block()
    await stage.revealed(50, stage.together(50))
    assert await stage.uri(8) == "ipfs://their-own"
    rows = await stage.rows("SELECT token_uri, reveal_tx FROM tokens_s0 WHERE token_id IN (7, 8) ORDER BY token_id")
    assert rows == [
        {"token_uri": "ipfs://metadata-7", "reveal_tx": None},
        {"token_uri": "ipfs://their-own", "reveal_tx": None},
    ]
    assert await stage.value("SELECT tokens FROM chain_nonce") == 48
    assert await stage.value("SELECT nonce FROM chain_nonce") == 2  # after theirs


async def test_a_mint_that_is_not_final_waits_and_uses_no_attempt(stage: Stage) -> None:
    await stage.ready(1, 1)  # nobody has minted it
    async with stage.at_work():
        await stage.until("generation_error LIKE 'Its mint is not final%'")
        await stage.minted_as_is(1)
        await stage.until("status = 'revealed'")
    assert await stage.value("SELECT max(retry_count) FROM tokens_s0") == 0


async def test_a_mint_above_the_block_that_is_safe_waits(stage: Stage) -> None:
    await stage.minted(1)
    await stage.follow(confirmed=5, safe=3, mint_block=4)
    async with stage.at_work():
        await stage.until("status = 'ready' AND not_before > now()")
        await stage.follow(confirmed=5, safe=4, mint_block=4)
        await stage.until("status = 'revealed'")


async def test_nothing_is_revealed_with_another_author_than_the_chain_names(stage: Stage) -> None:
    await stage.minted_as_is(1)
    await stage.ready(1, 1, author=STRANGER)
    async with stage.at_work():
        await stage.until("generation_error LIKE 'The chain names %'")
    assert await stage.nonce() == 0


async def test_one_that_the_contract_refuses_holds_up_none_of_the_others(stage: Stage) -> None:
    stage.contract = await stage.chain.deploy("StrictReveal", KEEPER)
    await stage.minted(10)
    await stage.chain.transact(request(stage.contract, "curse(uint256)", 4, sender=OWNER))
    async with stage.at_work():
        await stage.until("status = 'revealed'", 9)
        await stage.until("generation_error LIKE 'The contract refuses to reveal it%'")
    assert await stage.value("SELECT token_id FROM tokens_s0 WHERE status <> 'revealed'") == 4
    assert await stage.value("SELECT tokens FROM chain_nonce") == 9


async def test_a_stranger_s_key_holds_the_lane_and_says_what_to_do(stage: Stage) -> None:
    await stage.minted(1)
    await stage.chain.transact(request(stage.contract, "setKeeper(address)", STRANGER, sender=OWNER))
    async with stage.at_work():
        await stage.until("generation_error LIKE '%does not let this key reveal%'")
    lane = (await stage.rows("SELECT held_reason, held_until FROM lanes"))[0]
    assert STRANGER in lane["held_reason"]
    assert "setKeeper" in lane["held_reason"]
    assert lane["held_until"] is not None


async def test_a_key_that_cannot_be_read_holds_the_lane_and_is_read_by_nobody_who_does_not_reveal(stage: Stage) -> None:
    await stage.minted(1)
    gone = stage.settings(reveal_key_file=str(stage.data_dir / "elsewhere.key"))
    Revealing(gone)  # a supervisor makes one too, and reads no key
    async with stage.at_work(gone):
        await stage.until("generation_error LIKE 'A private key cannot be read%'")
    assert "elsewhere.key" in await stage.value("SELECT held_reason FROM lanes")


async def test_the_key_may_be_an_encrypted_keystore(stage: Stage) -> None:
    await stage.minted(1)
    store, password = stage.data_dir / "keeper.json", stage.data_dir / "password"
    for path, text in (
        (store, json.dumps(Account.encrypt(bytes.fromhex(KEEPER_KEY), "open sesame", iterations=2))),
        (password, "open sesame\n"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)
        path.write_text(text)
    await stage.revealed(1, stage.settings(reveal_key_file=str(store), reveal_key_password_file=str(password)))
    assert await stage.uri(1) == "ipfs://metadata-1"


async def test_a_token_that_was_drawn_again_is_revealed_again(stage: Stage) -> None:
    await stage.minted(2)
    await stage.revealed(2)
    await stage.connection.execute(
        "UPDATE tokens_s0 SET status = 'ready', finished_at = NULL, epoch = epoch + 1, metadata_cid = 'another' WHERE token_id = 2"
    )
    async with stage.at_work():
        await stage.until("status = 'revealed' AND token_uri = 'ipfs://another'")
    assert await stage.uris(1, 2) == ["ipfs://metadata-1", "ipfs://another"]


async def test_what_the_keeper_has_left_is_told(stage: Stage) -> None:
    await stage.minted(3)
    await stage.revealed(3)
    row = (await stage.rows("SELECT address, balance_wei, fee_wei, gas_per_token FROM chain_sender"))[0]
    assert row["address"] == KEEPER
    assert 0 < row["balance_wei"] <= 10**22
    assert row["fee_wei"] > 0
    assert 20_000 < row["gas_per_token"] < 250_000


async def test_a_wallet_that_is_nearly_empty_holds_the_lane_until_it_is_filled(stage: Stage) -> None:
    await stage.minted(3)
    await stage.chain.ask("anvil_setBalance", KEEPER, hex(10**12))
    async with stage.at_work():
        await stage.until("generation_error LIKE '%too little left%'", 3)
        assert "glisk lanes resume chain" in await stage.value("SELECT held_reason FROM lanes")
        await stage.chain.ask("anvil_setBalance", KEEPER, hex(10**18))
        await stage.connection.execute("UPDATE lanes SET held_until = now()")
        await stage.until("status = 'revealed'", 3)
    assert await stage.value("SELECT max(retry_count) FROM tokens_s0") == 0


async def test_gas_above_the_limit_is_waited_for(stage: Stage) -> None:
    await stage.minted(2)
    await stage.chain.ask("anvil_setNextBlockBaseFeePerGas", hex(400 * 10**9))
    await stage.next_block()
    dear = stage.settings(max_fee_gwei=10)
    async with stage.at_work(dear):
        await stage.until("generation_error LIKE 'Gas costs more%'", 2)
        assert await stage.value("SELECT count(*) FROM chain_tx") == 0
        await stage.chain.ask("anvil_setNextBlockBaseFeePerGas", hex(10**7))
        await stage.connection.execute("UPDATE tokens_s0 SET not_before = NULL")
        await stage.until("status = 'revealed'", 2)


async def test_a_transaction_that_is_stuck_is_replaced_by_one_that_pays_more(stage: Stage) -> None:
    await stage.minted(5)
    await stage.stop_mining()
    async with stage.at_work(stage.together(5, stuck_after=1)):
        await stage.until_sent(1)
        await stage.chain.ask("anvil_setNextBlockBaseFeePerGas", hex(20 * 10**9))
        await stage.chain.mine()  # without ours, which offers too little by now
        assert await stage.nonce() == 0
        await stage.until_sent(2)
        await stage.go_on_mining()
        await stage.until("status = 'revealed'", 5)
    states = await stage.rows("SELECT state, max_fee_wei FROM chain_tx ORDER BY created_at")
    assert states[0]["state"] == "replaced"
    (mined,) = [
        row for row in states if row["state"] == "mined"
    ]  # where the machine is slow, one more may have been sent
    assert mined["max_fee_wei"] >= 20 * 10**9
    assert await stage.value(LEDGER) == await stage.value(SPENT)


async def test_a_transaction_that_a_reorganisation_took_out_of_its_block_is_sent_again(stage: Stage) -> None:
    await stage.minted(5)
    await stage.stop_mining()
    async with stage.at_work(stage.together(5)) as processor:
        await stage.hasten(processor)
        await stage.until_sent(1)
        await stage.chain.mine()
        assert await stage.nonce() == 1
        await stage.chain.reorg(1)
        await stage.until_sent(1)
        await stage.go_on_mining()
        await stage.until("status = 'revealed'", 5)
    assert await stage.value("SELECT count(*) FROM chain_tx") == 1
    assert await stage.uris(1, 5) == [f"ipfs://metadata-{n}" for n in range(1, 6)]


async def test_a_nonce_that_somebody_else_has_used_costs_nothing_but_time(stage: Stage) -> None:
    await stage.minted(3)
    await stage.stop_mining()
    async with stage.at_work():
        await stage.until_sent(1)
        await stage.chain.ask("anvil_dropAllTransactions")
        await stage.reveal_by_hand([1], ["ipfs://metadata-1"])  # with the nonce that ours had
        await stage.chain.mine()
        await stage.go_on_mining()
        await stage.until("status = 'revealed'", 3)
    outcomes = await stage.rows("SELECT nonce, outcome FROM chain_nonce ORDER BY nonce")
    assert outcomes == [{"nonce": 0, "outcome": "lost"}, {"nonce": 1, "outcome": "done"}]


async def test_what_a_former_keeper_has_sent_is_followed_and_booked_as_its_own(stage: Stage) -> None:
    await stage.minted(2)
    await stage.stop_mining()
    async with stage.at_work(pace=replace(STEADY, drain=timedelta())):
        await stage.until_sent(1)
    await stage.minted_soon(1)
    new = stage.data_dir / "new.key"
    new.touch(0o600)
    new.write_text(STRANGER_KEY)
    await stage.chain.ask("evm_setIntervalMining", 1)  # what the old keeper has sent is mined before it is replaced
    await stage.blocks_until_nonce(1)
    await stage.chain.transact(request(stage.contract, "setKeeper(address)", STRANGER, sender=OWNER))
    await stage.revealed(3, stage.settings(reveal_key_file=str(new)))
    senders = await stage.rows(
        "SELECT a.receipt, t.token_id::int FROM attempts a JOIN tokens_s0 t ON t.id = a.item_id ORDER BY t.token_id"
    )
    assert [row["receipt"].split(":")[1] for row in senders] == [KEEPER, KEEPER, STRANGER]
    assert await stage.value("SELECT count(*) FROM chain_nonce WHERE outcome = 'done'") == 2
    assert await stage.value(LEDGER) == await stage.value(SPENT)
    hashes = await stage.rows("SELECT DISTINCT reveal_tx FROM tokens_s0")
    assert len(hashes) == 2


async def test_a_foreign_transaction_that_vanishes_leaves_no_gap(stage: Stage) -> None:
    await stage.minted(2)
    await stage.stop_mining()
    foreign = await stage.chain.ask("eth_sendTransaction", {"from": KEEPER, "to": STRANGER, "value": "0x1"})
    async with stage.at_work(stage.settings(stuck_after=1)):
        await stage.until_stored(1)
        await stage.chain.ask("anvil_dropTransaction", foreign)
        await stage.go_on_mining()
        await stage.until("status = 'revealed'", 2)
    assert await stage.value("SELECT nonce FROM chain_nonce") == 0


async def test_a_contract_that_cannot_be_revealed_is_told_as_such(stage: Stage) -> None:
    stage.contract = await stage.chain.deploy("PlainERC721")
    await stage.ready(1, 1)
    async with stage.at_work():
        await stage.until("generation_error LIKE 'Its contract has no keeper%'")


async def test_a_token_that_is_held_is_not_revealed(stage: Stage) -> None:
    await stage.minted(2)
    await stage.connection.execute("UPDATE tokens_s0 SET status = 'review', epoch = epoch + 1 WHERE token_id = 1")
    await stage.revealed(1)
    assert await stage.uri(1) == ""


async def test_a_token_that_is_taken_away_while_its_batch_forms_is_left_out(stage: Stage) -> None:
    await stage.minted(3)
    async with stage.at_work(stage.together(4)) as processor:
        group = await stage.gathered(processor, 3)
        await stage.connection.execute(
            "UPDATE tokens_s0 SET status = 'review', epoch = epoch + 1, leased_by = NULL, leased_until = NULL WHERE token_id = 2"
        )
        group.go()
        await stage.until("status = 'revealed'", 2)
    assert await stage.uri(2) == ""
    assert await stage.value("SELECT tokens FROM chain_nonce") == 2
