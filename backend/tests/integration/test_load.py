"""How much work there is for us, counted cheaply; and lanes that are made when they are missing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from glisk.engine import lanes, store
from glisk.engine.link import Link
from glisk.engine.statements import statement
from glisk.engine.worker import Station
from glisk.processors import Limits
from glisk.workers.load import measure
from glisk.workers.scaling import Load
from glisk.workers.staffing import make_lanes
from glisk.workflows import DANBOORU_TAGGER, IMAGE_GENERATION, JOBS, TOKEN
from tests.engines import ONE_STEP, Recorder, enqueue
from tests.integration.test_plans import prepare, scans


def staff(lane: str | None = None, limits: Limits | None = None) -> list[Station]:
    processor = Recorder()
    processor.lane = lane
    if limits:
        vars(processor)["limits"] = limits
    return [Station(flow, waiting, processor) for flow in (DANBOORU_TAGGER, TOKEN) for waiting in flow.steps]


async def test_ready_rows_of_our_workflows_count_and_no_others(link: Link, connection: Any) -> None:
    await enqueue(connection, 5, DANBOORU_TAGGER)
    await enqueue(connection, 2, DANBOORU_TAGGER, columns="priority=9")
    await enqueue(connection, 3, DANBOORU_TAGGER, columns="status='ready-for-tagging'")
    await enqueue(connection, 4, DANBOORU_TAGGER, columns="not_before=now() + interval '1 hour'")
    await enqueue(connection, 4, IMAGE_GENERATION)
    assert await measure(link, staff(), 100, "ours-") == Load(ready=10, live=0)


async def test_it_counts_no_further_than_it_must(link: Link, connection: Any) -> None:
    await enqueue(connection, 20, DANBOORU_TAGGER)
    assert await measure(link, staff(), 8, "ours-") == Load(ready=8, live=0)


async def test_only_our_own_rows_at_work_count(link: Link, connection: Any) -> None:
    await enqueue(connection, 9, DANBOORU_TAGGER)
    for worker, limit in (("ours-1", 2), ("ours-2", 1), ("ours", 4)):
        await store.claim(
            link.fetch, DANBOORU_TAGGER, "pending", limit=limit, worker=worker, lease=timedelta(minutes=1)
        )
    assert await measure(link, staff(), 100, "ours-") == Load(ready=2, live=3)


async def test_what_waits_for_a_held_lane_calls_for_nobody(link: Link, connection: Any) -> None:
    await enqueue(connection, 20, DANBOORU_TAGGER)
    await lanes.make(link, "provider", 6)
    assert await measure(link, staff("provider"), 100, "ours-") == Load(ready=6, live=0)
    await lanes.hold(link, "provider", "401")
    assert await measure(link, staff("provider"), 100, "ours-") == Load(ready=0, live=0)


async def test_what_waits_for_a_lane_that_somebody_deleted_calls_for_nobody(link: Link, connection: Any) -> None:
    await enqueue(connection, 20, DANBOORU_TAGGER)
    assert await measure(link, staff("provider"), 100, "ours-") == Load(ready=0, live=0)


async def test_a_missing_lane_is_made_and_an_existing_one_is_left_alone(link: Link, connection: Any) -> None:
    await make_lanes(link, [*staff("provider", Limits(4, rate=2.5)), *staff("provider", Limits(9)), *staff("other")])
    found = {row["lane"]: (row["max_concurrency"], row["rate"]) for row in await lanes.every_lane(link)}
    assert found == {"provider": (4, 2.5), "other": (Limits().concurrency, None)}
    await lanes.limit(link, "provider", 77)
    await lanes.hold(link, "provider", "the bill is unpaid")
    await make_lanes(link, staff("provider", Limits(4, rate=2.5)))
    row = await connection.fetchrow("SELECT max_concurrency, held_reason FROM lanes WHERE lane = 'provider'")
    assert tuple(row) == (77, "the bill is unpaid")


async def test_every_step_served_has_its_place_and_one_without_a_lane_has_none(link: Link, connection: Any) -> None:
    await make_lanes(link, staff("provider"))
    stands = "SELECT lane, array_agg(active ORDER BY active) FROM lane_steps GROUP BY lane"
    actives = ["generating", "generating", "pinning", "revealing", "tagging"]
    assert dict(await connection.fetch(stands)) == {"provider": actives}
    await make_lanes(link, staff()[:1])
    assert dict(await connection.fetch(stands)) == {"provider": actives[1:], None: actives[:1]}


@pytest.mark.parametrize("state", ["fresh", "full", "drained"])
async def test_the_load_is_counted_from_the_indexes_of_what_waits_and_of_what_is_at_work(
    state: str, connection: Any
) -> None:
    await prepare(connection, state)
    query = "EXPLAIN (FORMAT JSON) " + statement("load", JOBS)
    plan = json.loads(await connection.fetchval(query, [ONE_STEP.name], ["pending"], ["only"], 100, "ours-"))
    found = {index for _, index in scans(plan[0]["Plan"])}
    assert found == {"jobs_waiting", "jobs_leased"} or state == "fresh"
