"""What people see of a contract that is followed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from glisk.engine.link import Link
from glisk.repositories.chain_board import ChainBoard
from glisk.repositories.token_board import Collection
from tests.builders import AN_AUTHOR, CHAIN, CONTRACT

OTHER = "0x" + "d1" * 20
HASH = bytes(range(32))


@pytest.fixture
def board(link: Link) -> ChainBoard:
    return ChainBoard(link)


async def follow(connection: Any, contract: str = CONTRACT, **columns: Any) -> None:
    """A cursor: read to block 100, confirmed to 90, the head at 105."""
    columns = {
        "chain_id": CHAIN,
        "contract_address": contract,
        "start_no": 1,
        "tip_no": 100,
        "tip_hash": HASH,
        "confirmed_no": 90,
        "confirmed_hash": HASH,
        "safe_no": 95,
        "head_no": 105,
        **columns,
    }
    places = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
    await connection.execute(f"INSERT INTO chain_cursor ({', '.join(columns)}) VALUES ({places})", *columns.values())


async def mint(
    connection: Any, ids: Sequence[int], contract: str = CONTRACT, status: str = "detected", block: int = 10
) -> None:
    """Tokens, each a block after the last."""
    await connection.execute(
        """
        INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, status, finished_at, minter, mint_block,
          mint_block_hash, mint_tx, mint_log)
        SELECT $1, $2, v.id::numeric, $3, $4, CASE WHEN $4 = 'orphaned' THEN now() END, '0x' || repeat('ab', 20), $5 + v.n, $6, $6, 0
        FROM unnest($7::text[]) WITH ORDINALITY AS v(id, n)""",
        *(CHAIN, contract, await connection.fetchval(AN_AUTHOR), status, block, HASH, [str(id) for id in ids]),
    )


async def undecodable(connection: Any, log: int, *, is_orphaned: bool = False) -> None:
    await connection.execute(
        """
        INSERT INTO chain_event (chain_id, contract_address, block_number, block_hash, log_index, tx_hash, kind, problem, raw, orphaned_at)
        VALUES ($1, $2, 7, $3, $4, $3, 'undecodable', 'too short', '{}', CASE WHEN $5 THEN now() END)""",
        *(CHAIN, CONTRACT, HASH, log, is_orphaned),
    )


async def happened(connection: Any, what: str, contract: str = CONTRACT, **data: Any) -> None:
    told = json.dumps({"chain_id": CHAIN, "contract": contract, **data})
    await connection.execute(
        "INSERT INTO events (to_status, actor, data) VALUES ($1, 'listener', $2::jsonb)", what, told
    )


async def test_nothing_is_followed_at_first(board: ChainBoard) -> None:
    assert (await board.status(), await board.followed(), await board.reorgs()) == ([], [], [])


async def test_a_status_tells_how_far_it_is_and_what_there_is(board: ChainBoard, connection: Any) -> None:
    await follow(connection, alarm="a token is missing")
    await mint(connection, [1, 2, 3])
    await mint(connection, [4, 5], status="orphaned")
    await undecodable(connection, 1)
    await undecodable(connection, 2, is_orphaned=True)
    await happened(connection, "reorg", ancestor=97, depth=3, tip=100, orphaned=2)
    await happened(connection, "halted", reason="too deep")
    (found,) = await board.status()
    assert found.pop("seconds_ago") in range(60)
    assert found.pop("last_reorg_at") is not None
    assert found == {
        "chain": CHAIN,
        "contract": CONTRACT,
        "head": 105,
        "tip": 100,
        "confirmed": 90,
        "safe": 95,
        "tip_lag": 5,
        "confirmed_lag": 15,
        "tokens": 3,
        "orphaned": 2,
        "undecodable": 1,
        "reorgs": 1,
        "keeper": None,
        "balance": None,
        "reveals_left": None,
        "halted": None,
        "alarm": "a token is missing",
    }


async def test_a_status_tells_how_many_reveals_the_keeper_can_pay_for(board: ChainBoard, connection: Any) -> None:
    await follow(connection)
    keeper = "0x" + "ab" * 20
    await connection.execute(
        "INSERT INTO chain_sender (chain_id, address, balance_wei, fee_wei, gas_per_token) VALUES ($1, $2, $3, $4, 100000)",
        *(CHAIN, keeper, Decimal(15 * 10**17), Decimal(10**9)),
    )
    (found,) = await board.status()
    assert (found["keeper"], found["balance"], found["reveals_left"]) == (keeper, "1.5", "15000")


async def test_each_contract_has_its_own(board: ChainBoard, connection: Any) -> None:
    await follow(connection)
    await follow(connection, OTHER, head_no=-1, safe_no=-1, halted="too deep")
    await mint(connection, [1])
    await mint(connection, [1, 2], OTHER)
    await happened(connection, "reorg", OTHER, ancestor=97, depth=3, tip=100, orphaned=0)
    found = {row["contract"]: row for row in await board.status()}
    assert [(row["tokens"], row["reorgs"], row["halted"]) for row in found.values()] == [
        (1, 0, None),
        (2, 1, "too deep"),
    ]
    assert (found[OTHER]["head"], found[OTHER]["safe"], found[OTHER]["tip_lag"]) == (None, None, 0)
    assert [row["contract"] for row in await board.status(Collection(OTHER))] == [OTHER]
    assert [str(one) for one in await board.followed(Collection(OTHER, CHAIN))] == [f"{CHAIN}:{OTHER}"]
    assert await board.followed(Collection(OTHER, CHAIN + 1)) == []


async def test_reorganisations_are_listed_the_newest_first(board: ChainBoard, connection: Any) -> None:
    await happened(connection, "reorg", ancestor=50, depth=1, tip=51, orphaned=0)
    await happened(connection, "reorg", OTHER, ancestor=97, depth=3, tip=100, orphaned=2)
    await happened(connection, "alarm", reason="a token is missing")
    await happened(connection, "halted", reason="too deep")
    found = await board.reorgs()
    assert [(row["what"], row["contract"], row["depth"], row["orphaned"], row["reason"]) for row in found] == [
        ("halted", CONTRACT, None, None, "too deep"),
        ("reorg", OTHER, 3, 2, None),
        ("reorg", CONTRACT, 1, 0, None),
    ]
    assert [row["ancestor"] for row in await board.reorgs(1, Collection(OTHER))] == [97]
