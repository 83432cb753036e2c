"""What is written down about a chain cannot be wrong in these ways: the database refuses it."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from tests.builders import CHAIN, CONTRACT

CURSOR = f"""
    INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash)
    VALUES ({CHAIN}, '{CONTRACT}', 5, 9, sha256('t'), 7, sha256('c'))"""
HOT = f"""
    INSERT INTO hot_block (chain_id, contract_address, number, hash, parent_hash, block_at)
    VALUES ({CHAIN}, '{CONTRACT}', 8, sha256('h'), sha256('p'), now())"""
EVENT = f"""
    INSERT INTO chain_event (chain_id, contract_address, block_number, block_hash, log_index, tx_hash, kind, first_token_id, quantity,
      minter, author)
    VALUES ({CHAIN}, '{CONTRACT}', 8, sha256('h'), 0, sha256('x'), 'transfer', 1, 1, 'm', 'a')"""
SENT = f"""
    INSERT INTO chain_sender (chain_id, address) VALUES ({CHAIN}, '{CONTRACT}');
    INSERT INTO chain_nonce (chain_id, sender, nonce, content, recipient, data, tokens)
    VALUES ({CHAIN}, '{CONTRACT}', 0, sha256('c'), '{CONTRACT}', '', 1);
    INSERT INTO chain_tx (hash, chain_id, sender, nonce, content, raw, gas_limit, max_fee_wei, tip_wei, worker)
    VALUES (sha256('1'), {CHAIN}, '{CONTRACT}', 0, sha256('c'), '', 1, 2, 1, 'w')"""
BROKEN = [
    ("cursor_chain_is_positive", "UPDATE chain_cursor SET chain_id = 0"),
    ("cursor_contract_is_an_address", "UPDATE chain_cursor SET contract_address = '0xABC'"),
    ("start_is_a_block", "UPDATE chain_cursor SET start_no = -1"),
    ("tip_hash_is_whole", "UPDATE chain_cursor SET tip_hash = ''"),
    ("confirmed_hash_is_whole", "UPDATE chain_cursor SET confirmed_hash = ''"),
    ("cursor_epoch_only_grows", "UPDATE chain_cursor SET epoch = -1"),
    ("confirmed_within_tip", "UPDATE chain_cursor SET confirmed_no = 10"),
    ("confirmed_within_tip", "UPDATE chain_cursor SET confirmed_no = 3"),
    ("hot_hash_is_whole", "UPDATE hot_block SET hash = ''"),
    ("hot_parent_is_whole", "UPDATE hot_block SET parent_hash = ''"),
    ("event_block_is_whole", "UPDATE chain_event SET block_hash = ''"),
    ("event_tx_is_whole", "UPDATE chain_event SET tx_hash = ''"),
    ("event_kind_is_known", "UPDATE chain_event SET kind = 'burn'"),
    ("event_mints_some", "UPDATE chain_event SET quantity = 0"),
    ("decoded_or_raw", "UPDATE chain_event SET author = NULL"),
    ("decoded_or_raw", "UPDATE chain_event SET kind = 'undecodable'"),
    ("sender_chain_is_positive", "INSERT INTO chain_sender VALUES (0, '0xabc')"),
    ("sender_is_an_address", "INSERT INTO chain_sender VALUES (1, '0xabc')"),
    ("nonces_start_at_zero", "UPDATE chain_sender SET next_nonce = -1"),
    ("nonce_is_one", "UPDATE chain_nonce SET nonce = -1"),
    ("content_is_a_hash", "UPDATE chain_nonce SET content = ''"),
    ("nonce_is_for_some", "UPDATE chain_nonce SET tokens = 0"),
    ("nonce_outcome_is_known", "UPDATE chain_nonce SET outcome = 'well'"),
    ("tx_hash_is_whole", "UPDATE chain_tx SET hash = ''"),
    ("tx_has_gas", "UPDATE chain_tx SET gas_limit = 0"),
    ("tip_within_fee", "UPDATE chain_tx SET tip_wei = 3"),
    ("tx_state_is_known", "UPDATE chain_tx SET state = 'gone'"),
    (
        "tx_block_is_whole",
        "UPDATE chain_tx SET state = 'mined', block_no = 1, block_hash = '', gas_used = 1, paid_wei = 1",
    ),
    ("mined_is_whole", "UPDATE chain_tx SET state = 'mined'"),
    ("mined_is_whole", "UPDATE chain_tx SET paid_wei = 1"),
]
TABLES = ("chain_cursor", "hot_block", "chain_event", "chain_sender", "chain_nonce", "chain_tx")
CHECKS = """
    SELECT conname FROM pg_constraint
    WHERE contype = 'c' AND conrelid = ANY ($1::text[]::regclass[])"""


@pytest.fixture
async def read(connection: Any) -> Any:
    """A contract of which something was read."""
    await connection.execute(f"{CURSOR}; {HOT}; {EVENT}; {SENT}")
    return connection


@pytest.mark.parametrize(("invariant", "change"), BROKEN)
async def test_it_cannot_be_wrong(invariant: str, change: str, read: Any) -> None:
    if "chain_id" in change or "contract_address" in change:
        await read.execute("DELETE FROM hot_block")  # it refers to the cursor
    with pytest.raises(asyncpg.CheckViolationError) as caught:
        await read.execute(change)
    assert caught.value.constraint_name == invariant


async def test_every_invariant_is_broken_by_a_case_above(read: Any) -> None:
    assert {row["conname"] for row in await read.fetch(CHECKS, list(TABLES))} == {invariant for invariant, _ in BROKEN}


async def test_a_hot_block_is_of_a_contract_that_is_followed(read: Any) -> None:
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await read.execute("UPDATE hot_block SET chain_id = chain_id + 1")


async def test_a_nonce_never_has_another_content(read: Any) -> None:
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await read.execute("""
            INSERT INTO chain_tx (hash, chain_id, sender, nonce, content, raw, gas_limit, max_fee_wei, tip_wei, worker, state)
            SELECT sha256('2'), chain_id, sender, nonce, sha256('other'), raw, gas_limit, max_fee_wei, tip_wei, worker, 'replaced'
            FROM chain_tx""")


@pytest.mark.parametrize("state", ["live", "mined"])
async def test_of_the_transactions_of_a_nonce_one_is_live_and_one_mined_at_most(state: str, read: Any) -> None:
    mined = ", block_no = 1, block_hash = sha256('b'), gas_used = 1, paid_wei = 1" if state == "mined" else ""
    await read.execute(f"UPDATE chain_tx SET state = '{state}'{mined}")
    with pytest.raises(asyncpg.UniqueViolationError):
        await read.execute("""
            INSERT INTO chain_tx
            SELECT sha256('2'), chain_id, sender, nonce, content, raw, gas_limit, max_fee_wei, tip_wei, state, worker, created_at,
              block_no, block_hash, gas_used, paid_wei FROM chain_tx""")
