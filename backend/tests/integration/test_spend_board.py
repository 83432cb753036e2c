"""What people see of the money."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from glisk.engine.link import Link
from glisk.repositories.spend_board import BY_DAY, SpendBoard, Total
from tests.builders import a_token_row
from tests.integration.test_plans import plan, walk

AN_ATTEMPT = """
    INSERT INTO attempts (item_id, step, epoch, provider, model, outcome, cost, worker, started_at, finished_at, details)
    VALUES ($1, $2, 1, $3, $4, $5, $6, 'w', now() - $7::interval, CASE WHEN $5 <> 'open' THEN now() END, $8::jsonb)"""
AUTHOR = "0x" + "ab" * 20


@pytest.fixture
def board(link: Link) -> SpendBoard:
    return SpendBoard(link)


async def paid(
    connection: Any,
    item: int,
    cost: str | None = None,
    *,
    model: str | None = "flux",
    outcome: str = "done",
    ago: timedelta = timedelta(),
    wei: int | None = None,
) -> None:
    told = None if wei is None else json.dumps({"wei": str(wei)})
    step, provider = ("revealing", "chain") if wei else ("generating", "replicate")
    terms = (item, step, provider, model, outcome, cost and Decimal(cost), ago, told)
    await connection.execute(AN_ATTEMPT, *terms)


async def test_nothing_is_spent_at_first(board: SpendBoard) -> None:
    assert (await board.by_day(), await board.by_model(), await board.by_author()) == ([], [], [])
    total, today = await board.total(), await board.today(Decimal(5))
    assert total == Total()
    assert total.average is None
    assert today.left == 5


async def test_a_day_is_told_by_model_and_gas_is_one_of_them(board: SpendBoard, connection: Any) -> None:
    token, another = await a_token_row(connection, 1), await a_token_row(connection, 2)
    await paid(connection, token, "0.003")
    await paid(connection, token, "0.001", outcome="failed")
    await paid(connection, another, "0.04", model="flux-pro")
    await paid(connection, another, "0.5", outcome="open")
    await paid(connection, token, model=None, wei=10**30)
    await paid(connection, token, "7", ago=timedelta(days=40))
    today = datetime.now(UTC).date()
    assert [tuple(row.values()) for row in await board.by_day()] == [
        (today, "flux-pro", 1, 1, 0, Decimal("0.04"), 0, "0"),
        (today, "flux", 2, 1, 0, Decimal("0.004"), Decimal("0.001"), "0"),
        (today, "gas", 1, 1, 0, 0, 0, str(10**30)),
    ]
    assert [(row["model"], row["dollars"]) for row in await board.by_model(60)] == [
        ("flux", Decimal("7.004")),
        ("flux-pro", Decimal("0.04")),
        ("gas", 0),
    ]
    total = await board.total()
    assert (total.pictures, total.calls, total.dollars, total.lost) == (2, 4, Decimal("0.044"), Decimal("0.001"))
    assert (total.wei, total.average) == (10**30, Decimal("0.022"))


async def test_pictures_that_cost_nothing_are_counted_and_make_the_others_no_cheaper(
    board: SpendBoard, connection: Any
) -> None:
    for n, cost in enumerate(["0", None, "0"]):
        await paid(connection, n, cost, model="studio")
    await paid(connection, 8, "0", model="studio", outcome="failed")
    total = await board.total()
    assert (total.pictures, total.free, total.calls, total.average) == (3, 3, 3, None)
    await paid(connection, 9, "0.04")
    await paid(connection, 10, "0")
    total = await board.total()
    assert (total.pictures, total.free, total.average) == (5, 4, Decimal("0.04"))
    assert [(row["model"], row["done"], row["free"]) for row in await board.by_day()] == [
        ("flux", 2, 1),
        ("studio", 3, 3),
    ]


async def test_an_author_is_told_what_their_tokens_cost_and_jobs_are_nobodys(
    board: SpendBoard, connection: Any
) -> None:
    token = await a_token_row(connection, 1)
    await paid(connection, token, "0.003")
    await paid(connection, token, model=None, wei=21_000)
    await paid(connection, 2**40, "9")
    (row,) = await board.by_author()
    assert tuple(row.values()) == (AUTHOR, 2, 1, Decimal("0.003"), 0, "21000")


async def test_today_counts_what_is_ordered_against_the_budget(board: SpendBoard, connection: Any) -> None:
    await paid(connection, 1, "2")
    await paid(connection, 2, "1.5", outcome="open")
    await paid(connection, 3, "4", ago=timedelta(days=2))
    today = await board.today(Decimal(5))
    assert (today.spent, today.ordered, today.left) == (Decimal(2), Decimal("1.5"), Decimal("1.5"))
    assert (await board.today(Decimal(3))).left == 0
    assert (await board.today(None)).left is None


async def test_what_was_free_is_counted_by_its_index_alone(connection: Any) -> None:
    """A million calls that cost nothing are no reason to wait."""
    await connection.execute("""
        INSERT INTO attempts (item_id, step, epoch, provider, outcome, cost, worker, started_at, finished_at)
        SELECT n, 'generating', 1, 'studio', 'done', CASE WHEN n % 500 = 0 THEN 0.01 ELSE 0 END, 'w', now() - n * interval '1 second', now()
        FROM generate_series(1, 20000) n""")
    await connection.execute("VACUUM ANALYZE attempts")

    nodes = [*walk(await plan(connection, BY_DAY, 30))]
    found = {node["Index Name"]: node["Node Type"] for node in nodes if "Index Name" in node}
    assert {"attempts_spend", "attempts_gas", "attempts_free"} <= found.keys()
    assert found["attempts_free"] == "Index Only Scan"
    assert not [node for node in nodes if node["Node Type"] == "Seq Scan"]
