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
]
CHECKS = """
    SELECT conname FROM pg_constraint
    WHERE contype = 'c' AND conrelid IN ('chain_cursor'::regclass, 'hot_block'::regclass, 'chain_event'::regclass)"""


@pytest.fixture
async def read(connection: Any) -> Any:
    """A contract of which something was read."""
    await connection.execute(f"{CURSOR}; {HOT}; {EVENT}")
    return connection


@pytest.mark.parametrize(("invariant", "change"), BROKEN)
async def test_it_cannot_be_wrong(invariant: str, change: str, read: Any) -> None:
    if "chain_id" in change or "contract_address" in change:
        await read.execute("DELETE FROM hot_block")  # it refers to the cursor
    with pytest.raises(asyncpg.CheckViolationError) as caught:
        await read.execute(change)
    assert caught.value.constraint_name == invariant


async def test_every_invariant_is_broken_by_a_case_above(read: Any) -> None:
    assert {row["conname"] for row in await read.fetch(CHECKS)} == {invariant for invariant, _ in BROKEN}


async def test_a_hot_block_is_of_a_contract_that_is_followed(read: Any) -> None:
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await read.execute("UPDATE hot_block SET chain_id = chain_id + 1")
