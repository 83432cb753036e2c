"""What people see of failures, and what a retry of a group does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from glisk.engine.link import Link
from glisk.errors import PinRefused, Refused, catalogue
from glisk.repositories.failure_board import (
    CANCELLED_BY_HAND,
    ORPHANED_TOO_OFTEN,
    OUR_BUG,
    UNKNOWN,
    FailureBoard,
    said_in,
)
from tests.builders import DRAWN, a_token_row

NOW = datetime.now(UTC)
POLICY = "The prompt is against its content policy"
LAST = """
    INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, claimed_at) VALUES ($1, $2, $3, 'failed', 1, 'w', now())"""
A_CALL = """
    INSERT INTO attempts (item_id, step, epoch, provider, outcome, error_code, error, cost, worker, finished_at, details)
    VALUES ($1, 'generating', 1, 'replicate', $2, 'E005', $3, $4, 'w', now(), jsonb_build_object('code', $5::text))"""
A_JOB = """
    INSERT INTO jobs (workflow, status, finished_at, error_message, user_id, project_id)
    VALUES ('image_edit', 'failed', now(), $1, 'anna', (SELECT project_id FROM projects)) RETURNING id"""


@pytest.fixture
def board(link: Link) -> FailureBoard:
    return FailureBoard(link)


async def failed(connection: Any, n: int, error: str, step: str = "generating", *, age: int = 0, **columns: Any) -> int:
    at = NOW - timedelta(seconds=age)
    id = await a_token_row(connection, n, status="failed", generation_error=error, finished_at=at, **columns)
    await connection.execute(LAST, id, "token", step)
    return id


async def test_nothing_has_failed_at_first(board: FailureBoard) -> None:
    found = await board.failures()
    assert (found.groups, found.count, found.is_cut) == ([], 0, False)


async def test_failures_are_grouped_by_step_and_code_with_the_catalogues_remedy(
    board: FailureBoard, connection: Any
) -> None:
    refused = [await failed(connection, n, f"Refused twice: {POLICY}", age=n) for n in (1, 2, 3)]
    for id in refused:
        await connection.execute(A_CALL, id, "refused", POLICY, Decimal(0), Refused.code)
    pins = await failed(connection, 4, f"{PinRefused('too large')}", "pinning", **DRAWN)
    first, second = (await board.failures()).groups
    assert (first.step, first.cause.code, first.cause.remedy) == ("generating", Refused.code, Refused.remedy)
    assert (first.ids, first.sample.name) == (refused[::-1], "3")
    assert (first.first_at, first.last_at) == (NOW - timedelta(seconds=3), NOW - timedelta(seconds=1))
    assert (second.step, second.cause.code, second.ids) == ("pinning", PinRefused.code, [pins])


async def test_a_retry_is_priced_by_what_pictures_cost_of_late_and_one_that_is_drawn_is_free(
    board: FailureBoard, connection: Any
) -> None:
    for n, cost in enumerate(("0.002", "0.004"), 10):
        await connection.execute(A_CALL, n, "done", None, Decimal(cost), None)
    await failed(connection, 1, "no")
    await failed(connection, 2, "no")
    await failed(connection, 3, "no", "pinning", **DRAWN)
    prices = {group.step: group.price for group in (await board.failures()).groups}
    assert prices == {"generating": Decimal("0.006"), "pinning": 0}


async def test_a_group_is_retried_just_as_it_was_seen(board: FailureBoard, connection: Any) -> None:
    seen = [await failed(connection, n, "no") for n in (1, 2)]
    found = await board.failures()
    later = await failed(connection, 3, "no", age=-86_400)
    group = await board.group(found.groups[0].key, found.seen_at)
    assert group is not None
    assert group.ids == seen[::-1]
    assert await board.retry(group, "anna") == (2, {})
    assert await board.retry(group, "anna") == (0, {"detected, not failed": 2})
    assert (await board.failures()).groups[0].ids == [later]
    assert await board.group(("token", "nowhere", "GLK-302")) is None


async def test_jobs_fail_too_and_go_back_to_the_step_they_ended_in(
    board: FailureBoard, connection: Any, owners: None
) -> None:
    id = await connection.fetchval(A_JOB, "unexpected KeyError: 'image'")
    await connection.execute(LAST, id, "image_edit", "processing")
    (group,) = (await board.failures()).groups
    assert (group.workflow, group.step, group.cause, group.is_of_tokens) == ("image_edit", "processing", OUR_BUG, False)
    assert await board.retry(group, "anna") == (1, {})
    assert (await board.failures()).groups == []


async def test_a_call_that_failed_before_is_not_blamed_for_what_failed_now(
    board: FailureBoard, connection: Any
) -> None:
    id = await failed(connection, 1, "Cancelled by anna: not wanted")
    other = await failed(connection, 2, "unexpected KeyError: 'x'")
    for one in (id, other):
        await connection.execute(A_CALL, one, "refused", POLICY, Decimal(0), Refused.code)
    found = {group.cause for group in (await board.failures()).groups}
    assert found == {CANCELLED_BY_HAND, OUR_BUG}


@pytest.mark.parametrize("leaf", catalogue().values(), ids=lambda leaf: leaf.code)
def test_a_message_made_from_the_catalogue_is_known_again(leaf: Any) -> None:
    assert said_in(f"Max retries exceeded after chain errors: {leaf.summary} Port 8000.").code == leaf.code
    assert said_in(f"{leaf.code}: no").code == leaf.code


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("Orphaned 3 times", ORPHANED_TOO_OFTEN),
        ("Max retries exceeded (orphaned in generating)", ORPHANED_TOO_OFTEN),
        ("Max retries exceeded after unexpected errors: unexpected KeyError: 'x'", OUR_BUG),
        ("A job this one waits for failed", UNKNOWN),
        ("GLK-999", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_what_is_not_in_the_catalogue_is_told_by_its_kind(error: str, cause: Any) -> None:
    assert said_in(error) == cause
