"""The ledger: a paid call is never open twice, and what is closed stays closed."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from glisk.engine import ledger
from glisk.engine.link import Link
from glisk.engine.periodic import Periodic, keep_time
from glisk.workflows import JOBS
from tests.engines import enqueue


async def opened(link: Link, *, item: int = 7, seed: int = 1, epoch: int = 1) -> ledger.Attempt:
    return await ledger.open_attempt(link.fetch, item, "generating", epoch, provider="replicate", worker="w", seed=seed)


async def test_an_open_call_is_resumed_not_repeated(link: Link) -> None:
    first = await opened(link, seed=11)
    await ledger.record(link.fetch, first.id, "open", receipt="prediction-1")
    again = await opened(link, seed=22, epoch=2)
    assert (first.is_resumed, again.is_resumed) == (False, True)
    assert (again.id, again.seed, again.receipt) == (first.id, 11, "prediction-1")


async def test_the_prompt_is_kept_as_it_was_sent_first(link: Link, connection: Any) -> None:
    for prompt, source in (("a sunset", "author"), ("kittens", "fallback")):
        terms = (7, "generating", 1)
        await ledger.open_attempt(
            link.fetch, *terms, provider="replicate", worker="w", prompt=prompt, prompt_source=source
        )
    assert tuple(await connection.fetchrow("SELECT prompt, prompt_source FROM attempts")) == ("a sunset", "author")


async def test_twenty_callers_at_once_open_one(database_url: str, connection: Any) -> None:
    links = [Link(database_url) for _ in range(20)]
    attempts = await asyncio.gather(*(opened(link, seed=n) for n, link in enumerate(links)))
    assert [attempt.is_resumed for attempt in attempts].count(False) == 1
    assert await connection.fetchval("SELECT count(*) FROM attempts") == 1
    await asyncio.gather(*(link.close() for link in links))


async def test_what_is_closed_stays_closed(link: Link, connection: Any) -> None:
    attempt = await opened(link)
    assert await ledger.record(link.fetch, attempt.id, "done", cost=Decimal("0.003"))
    assert not await ledger.record(link.fetch, attempt.id, "failed", error="too late")
    row = await connection.fetchrow("SELECT outcome, cost, error FROM attempts")
    assert tuple(row) == ("done", Decimal("0.003"), None)
    assert not (await opened(link, seed=2)).is_resumed


async def test_two_calls_under_way_do_not_share_a_seed(link: Link) -> None:
    first = await opened(link, item=1, seed=5)
    with pytest.raises(ledger.SeedTaken):
        await opened(link, item=2, seed=5)
    await ledger.record(link.fetch, first.id, "failed", error="no")
    assert not (await opened(link, item=2, seed=5)).is_resumed


async def test_a_row_that_is_only_told_to_come_back_later_knows_since_when(link: Link, connection: Any) -> None:
    for n, code in enumerate(("429", "500", "429", "429")):
        attempt = await opened(link, seed=n)
        await ledger.record(link.fetch, attempt.id, "failed", error_code=code, error="no")
    await connection.execute("UPDATE attempts SET started_at = now() - (5 - attempt_id) * interval '1 minute'")
    lasted = await ledger.limited_for(link.fetch, 7, "generating")
    assert timedelta(minutes=2) <= lasted < timedelta(minutes=2, seconds=30), "since the third, not since the first"
    assert await ledger.limited_for(link.fetch, 8, "generating") == timedelta()


async def test_what_is_under_way_counts_as_spent_today(link: Link, connection: Any) -> None:
    def order(item: int) -> Any:
        return ledger.open_attempt(
            link.fetch, item, "generating", 1, provider="p", worker="w", seed=item, cost=Decimal("0.5")
        )

    yesterday, free, under_way = await order(1), await order(2), await order(3)
    await connection.execute("UPDATE attempts SET started_at = now() - interval '1 day' WHERE item_id = 1")
    assert (await ledger.spent_today(link.fetch))[:2] == (Decimal(0), Decimal("1.0"))
    await ledger.record(link.fetch, free.id, "failed", cost=Decimal(0), error="not charged")
    assert (await ledger.spent_today(link.fetch))[:2] == (Decimal(0), Decimal("0.5"))
    await ledger.record(link.fetch, under_way.id, "done")
    assert (await ledger.spent_today(link.fetch))[:2] == (Decimal("0.5"), Decimal(0))
    assert yesterday.id != under_way.id


async def test_a_call_is_left_open_only_when_its_row_has_ended(link: Link, connection: Any) -> None:
    ids = await enqueue(connection, 2)
    for id in ids:
        await ledger.open_attempt(link.fetch, id, "generating", 1, provider="p", worker="w", seed=id)
    await connection.execute("UPDATE jobs SET status = 'completed', finished_at = now() WHERE id = $1", ids[0])
    found = await ledger.left_open(link.fetch, JOBS, "p", "generating")
    assert [row["item_id"] for row in found] == [ids[0]]
    assert not await ledger.left_open(link.fetch, JOBS, "p", "generating", ids[1])


async def test_two_schedulers_do_periodic_work_once(database_url: str) -> None:
    done: list[str] = []
    seen = asyncio.Event()

    async def work(who: str) -> None:
        done.append(who)
        seen.set()

    links = [Link(database_url) for _ in range(2)]
    tasks = [
        asyncio.create_task(keep_time(link, [Periodic("audit", timedelta(hours=1), lambda who=who: work(who))], 0.01))  # type: ignore[misc]
        for link, who in zip(links, "ab", strict=True)
    ]
    await seen.wait()
    for link in links:  # each has had many more looks by the time it has answered so often
        for _ in range(50):
            await link.fetch("SELECT 1")
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(*(link.close() for link in links))
    assert len(done) == 1
