"""Jobs: the seeds' computed columns, and what the database refuses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import asyncpg
import pytest

pytestmark = pytest.mark.usefixtures("owners")

BROKEN = [
    ("job_id_holds_id", "job_id = gen_random_uuid()"),
    ("priority_is_a_digit", "priority = 10"),
    ("retries_are_counted", "retry_count = -1, last_retry = now()"),
    ("retried_has_a_time", "retry_count = 1"),
    ("error_is_short", "error_message = repeat('x', 1001)"),
    ("progress_is_a_percentage", "progress = 101"),
    ("attempts_are_allowed", "max_attempts = 0"),
    ("dependencies_are_counted", "dependency_count = -1"),
    ("leased_is_whole", "leased_by = 'w'"),
    ("finished_is_free", "leased_by = 'w', leased_until = now(), finished_at = now()"),
    ("failed_has_error", "status = 'failed'"),
    ("failed_has_error", "status = 'ready-for-uploading-failed'"),
    ("llm_task_is_whole", "workflow = 'llm_task', name = NULL, user_id = 'anna', conversation_id = 'chat'"),
    ("llm_task_is_whole", "workflow = 'llm_task', name = 'x', user_id = NULL, conversation_id = 'chat'"),
    ("llm_task_is_whole", "workflow = 'llm_task', name = 'x', user_id = 'anna', conversation_id = NULL"),
    ("image_edit_is_whole", "workflow = 'image_edit', user_id = NULL, project_id = (SELECT project_id FROM projects)"),
    ("image_edit_is_whole", "workflow = 'image_edit', user_id = 'anna', project_id = NULL"),
    ("ready_image_has_key", "workflow = 'r2_image', status = 'ready', finished_at = now()"),
]


@pytest.fixture
async def jobs(connection: Any) -> Any:
    await connection.execute("INSERT INTO jobs (workflow) VALUES ('demo')")
    return connection


@pytest.mark.parametrize(("invariant", "change"), BROKEN)
async def test_a_wrong_job_cannot_exist(invariant: str, change: str, jobs: Any) -> None:
    with pytest.raises(asyncpg.CheckViolationError) as caught:
        await jobs.execute(f"UPDATE jobs SET {change}")
    assert caught.value.constraint_name == invariant


async def test_every_invariant_is_broken_by_a_case_above(jobs: Any) -> None:
    checks = await jobs.fetch("SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = 'jobs'::regclass")
    assert {row["conname"] for row in checks} == {invariant for invariant, _ in BROKEN}


@pytest.mark.parametrize(
    "change",
    [
        "workflow = 'llm_task', name = 'x', user_id = 'anna', conversation_id = 'chat'",
        "workflow = 'image_edit', user_id = 'anna', project_id = (SELECT project_id FROM projects)",
        "workflow = 'r2_image', status = 'ready', finished_at = now(), output_r2_key = 'k'",
        "workflow = 'r2_image', status = 'processing'",
    ],
)
async def test_a_whole_job_can(change: str, jobs: Any) -> None:
    assert await jobs.execute(f"UPDATE jobs SET {change}") == "UPDATE 1"


@pytest.mark.parametrize(
    ("status", "ready"),
    [("pending", 1), ("ready-for-uploading", 1), ("ready-for-uploading-failed", 0), ("generating", 0), ("anything", 0)],
)
async def test_ready_is_as_seed_000_computes_it_but_for_what_is_parked(status: str, ready: int, jobs: Any) -> None:
    await jobs.execute("UPDATE jobs SET status = $1, error_message = 'x'", status)
    assert await jobs.fetchval("SELECT ready FROM jobs") == ready


@pytest.mark.parametrize(("failures", "minutes"), [(1, 2), (2, 4), (3, 8), (12, 4096), (500, 4096)])
async def test_a_retried_job_rests_two_to_the_n_minutes(failures: int, minutes: int, jobs: Any) -> None:
    await jobs.execute("UPDATE jobs SET retry_count = $1, last_retry = now()", failures)
    assert await jobs.fetchval("SELECT ready_at - last_retry FROM jobs") == timedelta(minutes=minutes)


async def test_a_new_job_is_ready_at_once_and_a_blocked_or_paused_one_never(jobs: Any) -> None:
    assert await jobs.fetchval("SELECT ready_at = created_at FROM jobs")
    for blocked in ("dependency_count = 1", "dependency_count = 0, paused_at = now()"):
        await jobs.execute(f"UPDATE jobs SET {blocked}")
        assert await jobs.fetchval("SELECT ready_at = 'infinity' FROM jobs")


async def test_a_users_jobs_go_with_the_user_and_children_outlive_their_parent(jobs: Any) -> None:
    parent = await jobs.fetchval("INSERT INTO jobs (workflow, user_id) VALUES ('demo', 'anna') RETURNING id")
    child = await jobs.fetchval("INSERT INTO jobs (workflow, parent_job_id) VALUES ('demo', $1) RETURNING id", parent)
    await jobs.execute("DELETE FROM users")
    assert await jobs.fetchval("SELECT count(*) FROM jobs WHERE id = $1", parent) == 0
    assert await jobs.fetchval("SELECT parent_job_id FROM jobs WHERE id = $1", child) is None
