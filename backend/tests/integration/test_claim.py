"""The claim: nobody gets what another has, the order holds, and its cost does not grow with the table."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg
import pytest

from benchmarks.claim import cost
from glisk.engine import store
from glisk.engine.burst import ROUNDED_S, Burst
from glisk.engine.decide import Row, Transition
from glisk.workflows import TOKEN, TOKENS
from tests.builders import IMAGE, MANY_TOKENS
from tests.engines import ONE_STEP, enqueue

LEASE = timedelta(minutes=1)


async def claim_all(url: str, worker: str, limit: int) -> list[Any]:
    connection = await asyncpg.connect(url)
    rows: list[Any] = []
    while batch := await store.claim(connection.fetch, TOKEN, "detected", limit=limit, worker=worker, lease=LEASE):
        rows += batch
    await connection.close()
    return rows


@pytest.mark.parametrize("limit", [1, 10, 300])
async def test_eight_claimers_never_share_a_token(limit: int, database_url: str, connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 2000, ["detected"], 1)
    taken = await asyncio.gather(*(claim_all(database_url, f"worker-{n}", limit) for n in range(8)))
    ids = [row["id"] for rows in taken for row in rows]
    assert len(ids) == len(set(ids)) == 2000
    for rows in taken:
        order = [(-row["priority"], row["ready_since"], row["id"]) for row in rows]
        assert order == sorted(order), "first in, first out within a priority, for every claimer"


async def test_a_claim_takes_no_more_than_it_asked_for(connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 100, ["detected"], 1)
    rows = await store.claim(connection.fetch, TOKEN, "detected", limit=7, worker="w", lease=LEASE)
    assert len(rows) == 7
    assert await connection.fetchval("SELECT count(*) FROM tokens_s0 WHERE leased_by = 'w'") == 7


async def test_what_is_not_ready_yet_is_left_alone(connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 2, ["detected"], 0)
    await connection.execute("UPDATE tokens_s0 SET not_before = now() + interval '1 hour' WHERE token_id = 1")
    rows = await store.claim(connection.fetch, TOKEN, "detected", limit=10, worker="w", lease=LEASE)
    assert [int(row["token_id"]) for row in rows] == [2]


async def test_a_burst_goes_on_where_it_was_and_higher_priorities_still_come_first(connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 9, ["detected"], 0)
    take = partial(store.claim, connection.fetch, TOKEN, "detected", limit=3, worker="w", lease=LEASE)
    burst = Burst()
    first = await take(floor=burst.floor())
    burst.goes_on(first, 3)
    assert burst.floor() == (first[-1]["priority"], first[-1]["ready_since"] - ROUNDED_S)
    await connection.execute("UPDATE tokens_s0 SET not_before = '2000-01-01', priority = 9 WHERE token_id = 9")
    await connection.execute("UPDATE tokens_s0 SET not_before = '2000-01-01' WHERE token_id = 8")
    second = await take(floor=burst.floor())
    assert [int(row["token_id"]) for row in second] == [9, 4, 5]
    burst.goes_on(await take(floor=burst.floor()), 3)
    assert burst.floor() is None, "a claim that was not full ends the burst"
    assert [int(row["token_id"]) for row in await take(floor=burst.floor())] == [8]


async def test_the_cost_of_a_claim_does_not_grow_with_the_table(connection: Any) -> None:
    (small, _), (large, _) = await cost(connection, 1_000, rounds=1), await cost(connection, 100_000, rounds=1)
    assert large <= 2 * small, f"{large} buffers at 100,000 rows, {small} at 1,000"


async def test_facts_of_every_kind_are_written(connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 1, ["detected"], 0)
    (row,) = await store.claim(connection.fetch, TOKEN, "detected", limit=1, worker="w", lease=LEASE)
    facts = {"image_url": IMAGE, "image_sha256": bytes(range(32)), "image_key": "k", "generation_error": None}
    held = Row(row["id"], row["epoch"], "generating", "detected")
    settled = await store.settle(connection.fetch, TOKENS, [(held, Transition("uploading", False, facts=facts))], "w")
    assert set(settled) == {row["id"]}
    written = await connection.fetchrow("SELECT * FROM tokens_s0")
    assert {name: written[name] for name in facts} == facts


async def test_nothing_to_settle_is_nothing_to_do(connection: Any) -> None:
    assert await store.settle(connection.fetch, TOKENS, [], "w") == {}


async def test_of_a_settle_the_rows_that_were_ours_come_back_and_no_others(connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 3, ["detected"], 0)
    rows = await store.claim(connection.fetch, TOKEN, "detected", limit=3, worker="w", lease=LEASE)
    await connection.execute("UPDATE tokens_s0 SET epoch = epoch + 1 WHERE id = $1", rows[1]["id"])
    decided = [
        (Row(row["id"], row["epoch"], "generating", "detected"), Transition("detected", is_final=False)) for row in rows
    ]
    settle = partial(store.settle, connection.fetch, TOKENS, decided, "w")
    assert await settle() == {rows[0]["id"]: False, rows[2]["id"]: False}
    assert await settle() == {}, "sent twice"


async def test_what_was_delayed_comes_in_the_order_in_which_it_became_ready(connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 3, ["detected"], 0)
    await connection.execute("UPDATE tokens_s0 SET not_before = now() - token_id * interval '1 minute'")
    rows = await store.claim(connection.fetch, TOKEN, "detected", limit=3, worker="w", lease=LEASE)
    assert [int(row["token_id"]) for row in rows] == [3, 2, 1]


async def test_a_burst_of_jobs_that_failed_before_hides_no_others(connection: Any) -> None:
    """The rest that a failure costs them lies behind them: it says nothing of where the burst has got."""
    await enqueue(connection, 3, columns="not_before=now() - interval '1 minute'")
    await connection.execute("UPDATE jobs SET retry_count = 3, last_retry = now()")
    (other,) = await enqueue(connection, 1)
    take = partial(store.claim, connection.fetch, ONE_STEP, "pending", limit=3, worker="w", lease=LEASE)
    burst = Burst()
    burst.goes_on(await take(floor=burst.floor()), 3)
    assert [row["id"] for row in await take(floor=burst.floor())] == [other]
