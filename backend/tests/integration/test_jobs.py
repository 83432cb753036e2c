"""Enqueueing jobs: unique keys, caps, dependencies; and what becomes of those who wait for a job that fails."""

from __future__ import annotations

import asyncio
import functools
import json
import traceback
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest

from glisk.engine import control
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Fail, Retry, Verdict
from glisk.engine.link import Link
from glisk.errors import BadJob, BadOptions, TooManyJobs, UnknownParent, UnknownWorkflow
from glisk.repositories.job_board import JobBoard
from glisk.repositories.job_repository import JobRepository, NewJob
from glisk.workflows import IMAGE_EDIT, IMAGE_GENERATION, JOBS
from tests.builders import an_edit
from tests.engines import Recorder, at_work, finished

pytestmark = pytest.mark.usefixtures("owners")


@pytest.fixture
def jobs(link: Link) -> JobRepository:
    return JobRepository(link)


async def test_a_job_is_enqueued_in_the_first_state_of_its_workflow(jobs: JobRepository, connection: Any) -> None:
    task = NewJob("llm_task", {"prompt": "Hello"}, priority=3, name="greet", user_id="anna", conversation_id="chat")
    enqueued = await jobs.enqueue(task)
    row = await connection.fetchrow("SELECT * FROM jobs")
    assert (row["id"], row["job_id"]) == (enqueued.id, enqueued.job_id)
    assert (row["workflow"], row["status"], row["priority"], row["name"]) == ("llm_task", "waiting", 3, "greet")
    assert row["payload"] == '{"prompt": "Hello"}'


async def test_many_are_enqueued_in_order(jobs: JobRepository, connection: Any) -> None:
    many = await jobs.enqueue_many([an_edit({"n": n}) for n in range(1000)])
    rows = await connection.fetch("SELECT id, payload->>'n' AS n FROM jobs ORDER BY id")
    assert [row["id"] for row in rows] == [job.id for job in many]
    assert [int(row["n"]) for row in rows] == list(range(1000))


async def test_a_duplicate_returns_the_job_that_is_there(jobs: JobRepository, connection: Any) -> None:
    first, second = [await jobs.enqueue(an_edit(unique_key="picture-7")) for _ in range(2)]
    assert (first.created, second.created) == (True, False)
    assert first.job_id == second.job_id
    await connection.execute("UPDATE jobs SET status = 'completed', finished_at = now()")
    assert (await jobs.enqueue(an_edit(unique_key="picture-7"))).created


async def test_twenty_callers_with_one_key_make_one_job(database_url: str, connection: Any) -> None:
    links = [Link(database_url) for _ in range(20)]
    many = await asyncio.gather(*(JobRepository(link).enqueue(an_edit(unique_key="k")) for link in links))
    assert len({job.id for job in many}) == 1
    assert [job.created for job in many].count(True) == 1
    await asyncio.gather(*(link.close() for link in links))


async def test_callers_at_the_same_time_share_a_transaction(jobs: JobRepository, connection: Any) -> None:
    many = await asyncio.gather(*(jobs.enqueue(an_edit({"n": n})) for n in range(50)))
    rows = await connection.fetch("SELECT id, payload ->> 'n' AS n, xmin::text AS xact FROM jobs")
    assert {row["id"]: int(row["n"]) for row in rows} == {job.id: n for n, job in enumerate(many)}
    assert len({row["xact"] for row in rows}) == 1


async def test_a_wrong_job_fails_its_own_caller_alone(jobs: JobRepository, connection: Any) -> None:
    nobodys = NewJob("image_generation", user_id="nobody")
    wrong = [NewJob("nonsense"), an_edit(parents=[-1]), nobodys, an_edit({"x": "\0"})]
    asked = [an_edit(), *wrong, an_edit()]
    answers = await asyncio.gather(*(jobs.enqueue(job) for job in asked), return_exceptions=True)
    assert [isinstance(answer, Exception) for answer in answers] == [False, True, True, True, True, False]
    assert await connection.fetchval("SELECT count(*) FROM jobs") == 2


async def test_a_caller_that_goes_away_does_not_hold_up_the_others(jobs: JobRepository, connection: Any) -> None:
    callers = [asyncio.create_task(jobs.enqueue(an_edit())) for _ in range(3)]
    await asyncio.sleep(0)
    callers[0].cancel()
    answers = await asyncio.gather(*callers, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert await connection.fetchval("SELECT count(*) FROM jobs") == 2
    assert (await jobs.enqueue(an_edit())).created


async def test_a_job_is_found_by_either_of_its_ids_and_by_no_other(
    jobs: JobRepository, link: Link, connection: Any
) -> None:
    copied = await jobs.enqueue(an_edit())
    checked = await jobs.enqueue(an_edit(unique_key="k"))
    by_hand = await connection.fetchrow("INSERT INTO jobs (workflow) VALUES ('image_generation') RETURNING id, job_id")
    board = JobBoard(link)
    for id, job_id in ((copied.id, copied.job_id), (checked.id, checked.job_id), tuple(by_hand)):
        assert job_id.version == 4
        for key in (str(id), str(job_id)):
            found = await board.find(key)
            assert found is not None
            assert found["id"] == id
    guessed = UUID(bytes=bytes(9) + copied.job_id.bytes[9:])
    for key in (str(guessed), str(uuid4()), "nonsense", "-1", "9" * 30):
        assert await board.find(key) is None


@pytest.mark.parametrize("workflow", ["token", "nonsense"])
async def test_only_workflows_of_jobs_can_be_asked_for(workflow: str, jobs: JobRepository) -> None:
    with pytest.raises(UnknownWorkflow):
        await jobs.enqueue(NewJob(workflow))


async def test_a_user_has_no_more_open_jobs_than_allowed(database_url: str, connection: Any) -> None:
    links = [Link(database_url) for _ in range(10)]
    asked = (JobRepository(link, most_per_user=3).enqueue(an_edit()) for link in links)
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(answer, TooManyJobs) for answer in answers) == 7
    assert await connection.fetchval("SELECT count(*) FROM jobs") == 3
    await asyncio.gather(*(link.close() for link in links))


async def test_a_delayed_job_is_not_ready_before_its_time(jobs: JobRepository, connection: Any) -> None:
    await jobs.enqueue(an_edit(delay=timedelta(hours=1)))
    assert await connection.fetchval("SELECT ready_at - created_at FROM jobs") == timedelta(hours=1)


async def test_a_tree_three_deep_runs_from_its_root(jobs: JobRepository, database_url: str, connection: Any) -> None:
    root = await jobs.enqueue(an_edit())
    middle = await jobs.enqueue_many([an_edit(parents=[root.id]) for _ in range(2)])
    leaf = await jobs.enqueue(an_edit(parents=[job.id for job in middle]))
    order: list[int] = []

    async def remember(claim: Claim) -> Verdict:
        order.append(claim.id)
        return Done()

    async with at_work(database_url, {"editing": Recorder(remember)}, IMAGE_EDIT):
        await finished(connection, 4)
    assert order[0] == root.id
    assert order[-1] == leaf.id
    assert set(order[1:3]) == {job.id for job in middle}


async def test_a_failing_child_takes_those_who_wait_for_it_along(
    jobs: JobRepository, database_url: str, connection: Any
) -> None:
    root = await jobs.enqueue(an_edit())
    bad, good = await jobs.enqueue_many([an_edit({"bad": bad}, parents=[root.id]) for bad in (True, False)])
    leaf = await jobs.enqueue(an_edit(parents=[bad.id, good.id]))
    below = await jobs.enqueue(an_edit(parents=[leaf.id]))
    brave = await jobs.enqueue(an_edit(parents=[bad.id], on_failure="ignore"))

    async def fail_the_bad(claim: Claim) -> Verdict:
        return Fail("no") if '"bad": true' in claim.row["payload"] else Done()

    async with at_work(database_url, {"editing": Recorder(fail_the_bad)}, IMAGE_EDIT):
        ended = await finished(connection, 6)
    assert {id for id, status in ended.items() if status == "failed"} == {bad.id, leaf.id, below.id}
    assert ended[brave.id] == "completed"
    errors = await connection.fetch("SELECT error_message FROM jobs WHERE id = ANY ($1::bigint[])", [leaf.id, below.id])
    assert {row["error_message"] for row in errors} == {"A job this one waits for failed"}


async def test_nobody_waits_for_what_is_over(jobs: JobRepository, connection: Any) -> None:
    parent = await jobs.enqueue(an_edit())
    await connection.execute("UPDATE jobs SET status = 'completed', finished_at = now()")
    child = await jobs.enqueue(an_edit(parents=[parent.id]))
    assert await connection.fetchval("SELECT dependency_count FROM jobs WHERE id = $1", child.id) == 0


async def test_one_cannot_wait_for_what_failed_or_never_was(jobs: JobRepository, connection: Any) -> None:
    parent = await jobs.enqueue(an_edit())
    await connection.execute("UPDATE jobs SET status = 'failed', error_message = 'no', finished_at = now()")
    for parents in ([parent.id], [10**9]):
        with pytest.raises(UnknownParent):
            await jobs.enqueue(an_edit(parents=parents))
    assert await connection.fetchval("SELECT count(*) FROM jobs") == 1


async def test_one_key_twice_in_one_call_is_one_job(jobs: JobRepository, connection: Any) -> None:
    first, other, again = await jobs.enqueue_many([an_edit(unique_key=key) for key in ("a", "b", "a")])
    assert (first.id, first.created, again.created) == (again.id, True, False)
    assert other.created
    assert await connection.fetchval("SELECT count(*) FROM jobs") == 2


async def test_none_is_none(jobs: JobRepository) -> None:
    assert await jobs.enqueue_many([]) == []


async def test_whoever_waits_for_a_deleted_job_waits_no_longer(jobs: JobRepository, connection: Any) -> None:
    parent = await jobs.enqueue(an_edit())
    child = await jobs.enqueue(an_edit(parents=[parent.id]))
    assert await connection.fetchval("SELECT parent_job_id FROM jobs WHERE id = $1", child.id) == parent.id
    await connection.execute("DELETE FROM jobs WHERE id = $1", parent.id)
    assert await connection.fetchval("SELECT ready_at = created_at FROM jobs WHERE id = $1", child.id)


async def test_a_child_that_was_cancelled_before_its_parent_ended_can_be_retried(
    jobs: JobRepository, link: Link, database_url: str, connection: Any
) -> None:
    parent = await jobs.enqueue(an_edit())
    child = await jobs.enqueue(an_edit(parents=[parent.id]))
    await control.cancel(link, JOBS, [child.id], "anna")
    async with at_work(database_url, {"editing": Recorder()}, IMAGE_EDIT):
        await finished(connection, 2)
        assert await control.retry(link, JOBS, [child.id], "pending", "anna") == [child.id]
        while (await finished(connection, 1)).get(child.id) != "completed":
            pass


async def test_a_dead_letter_goes_back_to_the_step_it_died_in(
    jobs: JobRepository, link: Link, database_url: str, connection: Any
) -> None:
    job = await jobs.enqueue(NewJob("image_generation"))
    broken = True

    async def fail_at_first(claim: Claim) -> Verdict:
        return Retry("the store is full") if broken else Done()

    processors = {"generating": Recorder(), "uploading": Recorder(fail_at_first)}
    board = JobBoard(link)
    async with at_work(database_url, processors, IMAGE_GENERATION):
        assert await finished(connection) == {job.id: "ready-for-uploading-failed"}
        (dead,) = await board.dead()
        assert (dead["id"], dead["error_message"]) == (job.id, "the store is full")
        broken = False
        assert await board.retry([job.id], "anna") == [job.id]
        while await finished(connection) != {job.id: "completed"}:
            pass
    assert processors["generating"].runs == {job.id: 1}, "what was drawn is not drawn again"
    timeline = (await board.history(job.id))["timeline"]
    assert [(event["from_status"], event["to_status"], event["actor"]) for event in timeline] == [
        ("generating", "ready-for-uploading", "w"),
        ("uploading", "ready-for-uploading-failed", "w"),
        ("ready-for-uploading-failed", "ready-for-uploading", "anna"),
        ("uploading", "completed", "w"),
    ]


async def test_all_dead_letters_are_retried_but_for_one_that_lacks_what_it_needs(link: Link, connection: Any) -> None:
    dead = "status, finished_at, error_message) SELECT 'image_generation', 'failed', now(), 'x'"
    await connection.execute(f"INSERT INTO jobs (workflow, {dead} FROM generate_series(1, 2500)")
    await connection.execute(
        "INSERT INTO jobs (workflow, status, finished_at, error_message) VALUES ('image_edit', 'failed', now(), 'x')"
    )
    board = JobBoard(link)
    ids = await board.every_dead()
    assert len(await board.every_dead("image_generation")) == 2500
    assert len(await board.retry(ids, "anna")) == 2500
    assert await connection.fetchval("SELECT count(*) FROM jobs WHERE finished_at IS NULL") == 2500
    assert await board.every_dead() == ids[-1:]


async def test_options_say_when_how_often_and_how_urgently(jobs: JobRepository, connection: Any) -> None:
    opts = {"delay": 60_000, "attempts": 7, "priority": 4, "colour": "red"}
    await jobs.enqueue(an_edit(opts=opts))
    row = await connection.fetchrow("SELECT *, ready_at - created_at AS rest FROM jobs")
    assert (row["rest"], row["max_attempts"], row["priority"]) == (timedelta(minutes=1), 7, 4)
    assert json.loads(row["opts"]) == opts
    await jobs.enqueue(an_edit(opts=opts, max_attempts=2, priority=9))
    assert await connection.fetchval("SELECT max_attempts FROM jobs WHERE priority = 9") == 2


@pytest.mark.parametrize(
    "opts", [{"attempts": 0}, {"attempts": "three"}, {"delay": -1}, {"backoff": {"type": "wild", "delay": 1}}]
)
async def test_options_that_make_no_sense_are_refused(opts: dict[str, Any], jobs: JobRepository) -> None:
    with pytest.raises(BadOptions):
        await jobs.enqueue(an_edit(opts=opts))


async def test_what_is_being_retried_is_listed_with_its_next_try(link: Link, connection: Any) -> None:
    failed_twice = "retry_count, last_retry, error_message) VALUES ('image_generation', 2, now(), 'no route')"
    await connection.execute(f"INSERT INTO jobs (workflow, {failed_twice}")
    await connection.execute("INSERT INTO jobs (workflow) VALUES ('image_generation')")
    (row,) = await JobBoard(link).retrying()
    assert row["next_try"] - row["last_retry"] == timedelta(minutes=4), "seed 000: 2 to the power of n minutes"
    assert await JobBoard(link).retrying("token") == []
    await connection.execute("UPDATE jobs SET leased_by = 'w', leased_until = now() WHERE id = $1", row["id"])
    assert [found["id"] for found in await JobBoard(link).retrying()] == [row["id"]], "also while it is at work"


OF_NOBODY = "Annas secret"


def a_nest(depth: int) -> list[Any]:
    return functools.reduce(lambda inner, _: [inner], range(depth), [])


WRONG: dict[str, tuple[NewJob, str]] = {
    "priority": (an_edit(priority=99), "priority"),
    "a priority in words": (an_edit(priority="high"), "priority"),
    "no attempts": (an_edit(max_attempts=0), "max_attempts"),
    "no attempts beside options": (an_edit(max_attempts=0, opts={"attempts": 3}), "max_attempts"),
    "too many attempts": (an_edit(max_attempts=99999), "max_attempts"),
    "user": (NewJob("image_generation", {"x": OF_NOBODY}, user_id="nobody"), "no user with this user_id"),
    "conversation": (NewJob("image_generation", conversation_id="no"), "no conversation with this conversation_id"),
    "project": (NewJob("image_generation", project_id=UUID(int=1)), "no project with this project_id"),
    "a project that is no uuid": (NewJob("image_generation", project_id="x"), "project_id"),  # type: ignore[arg-type]
    "NUL in the payload": (an_edit({"x": f"{OF_NOBODY}\0"}), "payload or opts hold a NUL"),
    "NUL in the options": (an_edit(opts={"x": f"{OF_NOBODY}\0"}), "payload or opts hold a NUL"),
    "NUL in the name": (an_edit(name=f"{OF_NOBODY}\0"), "text in it holds a NUL"),
    "half a character": (an_edit(name="\ud800"), "name"),
    "on_failure": (an_edit(on_failure="whatever"), "on_failure"),
    "a huge key": (an_edit(unique_key="".join(str(uuid4()) for _ in range(300))), "unique_key"),
    "an incomplete llm_task": (NewJob("llm_task", {"x": OF_NOBODY}, user_id="anna"), "llm_task needs"),
    "an incomplete image_edit": (NewJob("image_edit", {"x": OF_NOBODY}, user_id="anna"), "image_edit needs"),
    "a delay without end": (an_edit(delay=timedelta.max), "delay"),
    "a delay into the past": (an_edit(delay=timedelta(days=-1)), "delay"),
    "a list as payload": (NewJob("image_generation", [1]), "payload"),  # type: ignore[arg-type]
    "nothing as payload": (NewJob("image_generation", None), "payload"),  # type: ignore[arg-type]
    "a payload that is not JSON": (an_edit({"x": object()}), "payload"),
    "a payload too deep": (an_edit({"x": a_nest(100_000)}), "payload"),
    "a parent beyond all ids": (an_edit(parents=[2**70]), "parents"),
}


@pytest.mark.parametrize("many", [1, 250], ids=["alone", "among many"])
@pytest.mark.parametrize("wrong", WRONG)
async def test_a_job_that_cannot_be_is_refused_in_words_that_do_not_show_it(
    wrong: str, many: int, jobs: JobRepository, connection: Any
) -> None:
    job, words = WRONG[wrong]
    with pytest.raises(BadJob, match=words) as refused:
        await (jobs.enqueue(job) if many == 1 else jobs.enqueue_many([an_edit()] * many + [job]))
    told = "".join(traceback.format_exception(refused.value))
    assert OF_NOBODY not in told
    assert "Failing row" not in told
    assert (await jobs.enqueue(an_edit())).created, "the next one is not held up"
    assert await connection.fetchval("SELECT count(*) FROM jobs") == 1


async def test_eight_callers_with_the_same_keys_in_any_order_do_not_deadlock(
    database_url: str, connection: Any
) -> None:
    links = [Link(database_url) for _ in range(8)]
    keys = [f"key {n}" for n in range(150)]
    orders = [Random(n).sample(keys, len(keys)) for n in range(8)]
    calls = (
        JobRepository(link).enqueue_many([an_edit({"key": key}, unique_key=key) for key in order])
        for link, order in zip(links, orders, strict=True)
    )
    answers = await asyncio.gather(*calls)
    rows = await connection.fetch("SELECT id, payload ->> 'key' AS key FROM jobs")
    ids = {row["key"]: row["id"] for row in rows}
    assert len(rows) == 150
    assert [[job.id for job in answer] for answer in answers] == [[ids[key] for key in order] for order in orders]
    await asyncio.gather(*(link.close() for link in links))


async def test_an_empty_key_is_a_key(jobs: JobRepository) -> None:
    first, again = await jobs.enqueue_many([an_edit(unique_key="")] * 2)
    assert (first.id, first.created, again.created) == (again.id, True, False)


async def test_a_duplicate_is_found_although_its_user_may_have_no_more(link: Link, connection: Any) -> None:
    jobs = JobRepository(link, most_per_user=2)
    first, second = await jobs.enqueue_many([an_edit(unique_key=key) for key in "ab"])
    assert (await jobs.enqueue(an_edit(unique_key="a"))).id == first.id
    assert [job.id for job in await jobs.enqueue_many([an_edit(unique_key=key) for key in "bab"])] == [
        *(second.id, first.id, second.id)
    ]
    for more in (["c"], ["a", "c"], [None]):
        with pytest.raises(TooManyJobs, match="anna has 2 of 2"):
            await jobs.enqueue_many([an_edit(unique_key=key) for key in more])
    assert (await JobRepository(link, most_per_user=1).enqueue(an_edit(unique_key="b"))).id == second.id
    assert len(await JobRepository(link, most_per_user=3).enqueue_many([an_edit(unique_key="c")] * 5)) == 5


async def test_a_job_cancelled_between_two_steps_goes_back_to_the_second(
    jobs: JobRepository, link: Link, connection: Any
) -> None:
    job = await jobs.enqueue(NewJob("image_generation"))
    await connection.execute("UPDATE jobs SET status = 'ready-for-uploading'")
    board = JobBoard(link)
    assert await board.cancel([job.id], "anna") == [job.id]
    assert await board.retry([job.id], "anna") == [job.id]
    assert await connection.fetchval("SELECT status FROM jobs") == "ready-for-uploading"


async def test_an_open_job_of_a_workflow_that_nobody_knows_is_listed_as_such(link: Link, connection: Any) -> None:
    await connection.execute("INSERT INTO jobs (workflow) VALUES ('no_such'), ('token'), ('image_generation')")
    await connection.execute(
        "INSERT INTO jobs (workflow, status, finished_at) VALUES ('of_old_days', 'completed', now())"
    )
    listed = {row["workflow"]: row["note"] for row in await JobBoard(link).newest()}
    strange = dict.fromkeys(("no_such", "token"), "no such workflow")
    assert listed == strange | {"image_generation": None, "of_old_days": None}


async def test_a_job_of_an_unknown_workflow_is_left_and_the_others_are_retried(link: Link, connection: Any) -> None:
    dead = "status, finished_at, error_message) VALUES ($1, 'failed', now(), 'x') RETURNING id"
    strange, stray, known = [
        await connection.fetchval(f"INSERT INTO jobs (workflow, {dead}", workflow)
        for workflow in ("no_such", "token", "image_generation")
    ]
    board = JobBoard(link)
    assert await board.retry([strange, stray, known], "anna") == [known]
    assert await board.why_not_retried([strange, stray]) == {
        "there is no workflow 'no_such' of jobs": 1,
        "there is no workflow 'token' of jobs": 1,
    }
