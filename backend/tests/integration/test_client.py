"""The client, as programs use it: against a real server, over a network that breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from glisk.client import Glisk, MaskRegion, Problem, Sample
from glisk.repositories.key_repository import KeyRepository, Terms
from tests.bringing import a_picture, as_data_url
from tests.builders import a_token_row
from tests.snapping import Snapping, snapping
from tests.studio import Studio, open_studio

MOVED = "INSERT INTO events (item_id, workflow, from_status, to_status, actor) VALUES ($1, 'token', 'detected', 'generating', 'w')"
PICTURE = bytes(range(256)) * 4000


@pytest.fixture
async def studio(database_url: str, tmp_path: Path) -> AsyncIterator[Studio]:
    async with open_studio(database_url, data_dir=tmp_path) as studio:
        yield studio


@pytest.fixture
async def glisk(studio: Studio) -> AsyncIterator[Glisk]:
    async with Glisk(studio.visit.address, key=key_of(studio)) as glisk:
        yield glisk


@pytest.fixture
async def network(studio: Studio) -> AsyncIterator[Snapping]:
    async with snapping(studio.visit.address) as network:
        yield network


@pytest.fixture
async def shaky(network: Snapping, studio: Studio) -> AsyncIterator[Glisk]:
    """Its network can be told to break."""
    async with Glisk(network.address, key=key_of(studio), patience=5) as glisk:
        yield glisk


def key_of(studio: Studio) -> str:
    """Anna's."""
    return studio.anna.headers["Authorization"].removeprefix("Bearer ")


@asynccontextmanager
async def with_rate(studio: Studio, rate: int, patience: float) -> AsyncIterator[Glisk]:
    key = await KeyRepository(studio.visit.link).make("slow", "user", "a test", Terms("anna", rate=rate))
    async with Glisk(studio.visit.address, key=key, patience=patience) as glisk:
        yield glisk


async def test_a_job_is_made_shown_and_stopped(glisk: Glisk) -> None:
    made = await glisk.jobs.make("a lighthouse in fog", priority=3, delay=timedelta(hours=1), attempts=2, seed=7)
    job = await glisk.jobs.show(made.job_id)
    assert (made.status, job.job_id, job.status) == ("pending", made.job_id, "delayed")
    assert (job.user_id, job.priority, job.max_attempts) == ("anna", 3, 2)
    assert job.data == {"prompt": "a lighthouse in fog", "seed": 7}
    assert (await glisk.jobs.pause(made.job_id)).status == "paused"
    assert (await glisk.jobs.resume(made.job_id)).status == "delayed"
    assert (await glisk.jobs.cancel(made.job_id)).is_over


async def test_the_same_key_is_the_same_job_and_children_wait_for_their_parents(glisk: Glisk) -> None:
    made = [await glisk.jobs.make("fog", idempotency_key="mine") for _ in range(2)]
    assert made[0].job_id == made[1].job_id
    assert (await glisk.jobs.make("fog")).job_id != made[0].job_id
    parent = await glisk.jobs.make("fog")
    child = await glisk.jobs.make("more fog", parents=[parent.job_id], on_failure="ignore")
    shown = await glisk.jobs.show(child.job_id)
    assert (shown.parent_job_id, shown.dependency_count) == (parent.job_id, 1)


async def test_all_of_them_are_listed_page_after_page(glisk: Glisk) -> None:
    made = [(await glisk.jobs.make(f"number {n}")).job_id for n in range(5)]
    assert [job.job_id async for job in glisk.jobs.list(limit=2)] == made[::-1]
    assert [job async for job in glisk.jobs.list(status="ready")] == []


async def test_what_is_refused_is_told_with_its_remedy(glisk: Glisk) -> None:
    with pytest.raises(Problem) as caught:
        await glisk.jobs.make("")
    assert (caught.value.code, caught.value.status) == ("GLK-806", 400)
    assert "prompt" in caught.value.message
    assert caught.value.remedy
    with pytest.raises(Problem, match="GLK-819"):
        await glisk.jobs.show(uuid4())
    with pytest.raises(Problem, match="GLK-824"):
        await glisk.jobs.resume((await glisk.jobs.make("fog")).job_id)


async def test_whoever_wants_the_result_waits_for_it(studio: Studio, glisk: Glisk) -> None:
    made = await glisk.jobs.make("fog")
    waiting = asyncio.create_task(glisk.jobs.result(made.job_id))
    async for standing in glisk.jobs.watch(made.job_id):
        if standing.status == "pending":
            await studio.settle(str(made.job_id), "ready", PICTURE)
    result = await waiting
    assert (result.status, result.picture, result.mime) == ("completed", PICTURE, "image/png")
    with pytest.raises(Problem, match="GLK-819"):
        await glisk.jobs.result(made.job_id)
    assert (await glisk.jobs.result(made.job_id, again=True)).picture == PICTURE


async def test_a_failure_is_a_result(studio: Studio, glisk: Glisk) -> None:
    made = await glisk.jobs.make("fog")
    await studio.settle(str(made.job_id), "failed", error="It broke")
    result = await glisk.jobs.result(made.job_id)
    assert (result.status, result.error, result.picture) == ("failed", "It broke", None)


async def test_a_job_whose_answer_was_lost_is_made_once(studio: Studio, shaky: Glisk, network: Snapping) -> None:
    for after in (0, 30):
        network.snap("POST /jobs ", after=after, times=2)
        made = await shaky.jobs.make("fog")
        rows = await studio.rows("DELETE FROM jobs RETURNING job_id")
        assert [row["job_id"] for row in rows] == [made.job_id]


async def test_a_result_that_broke_on_its_way_is_had_again_whole(
    studio: Studio, shaky: Glisk, network: Snapping
) -> None:
    for after in (0, 400, 1_000_000):
        made = await shaky.jobs.make("fog")
        await studio.settle(str(made.job_id), "ready", PICTURE)
        network.snap("GET /jobResult", after=after)
        assert (await shaky.jobs.result(made.job_id)).picture == PICTURE


async def test_a_stream_that_breaks_is_taken_up_again(studio: Studio, shaky: Glisk, network: Snapping) -> None:
    made = await shaky.jobs.make("fog")
    network.snap(f"GET /jobs/{made.job_id}/events", after=350)
    seen = []
    async for standing in shaky.jobs.watch(made.job_id):
        seen.append(standing.status)
        if len(seen) == 1:
            await studio.settle(str(made.job_id), "failed", error="It broke")
    assert seen == ["pending", "failed"]


async def test_what_may_have_been_done_is_not_repeated(studio: Studio, shaky: Glisk, network: Snapping) -> None:
    made = await shaky.jobs.make("fog")
    network.snap(f"POST /jobs/{made.job_id}/cancel", after=1)
    with pytest.raises(Problem, match="may have been done") as caught:
        await shaky.jobs.cancel(made.job_id)
    assert (caught.value.status, caught.value.code) == (0, "")
    assert (await shaky.jobs.show(made.job_id)).is_over


async def test_who_asks_too_often_waits_as_long_as_they_are_told(studio: Studio) -> None:
    async with with_rate(studio, 60, patience=10) as slow:
        for _ in range(61):
            await slow.jobs.make("fog", idempotency_key="one")
    assert len(await studio.rows("SELECT FROM jobs")) == 1


async def test_who_has_no_patience_is_told_at_once(studio: Studio) -> None:
    async with with_rate(studio, 1, patience=1) as slow:
        await slow.jobs.make("fog")
        with pytest.raises(Problem, match="GLK-817") as caught:
            await slow.jobs.make("fog")
    assert caught.value.status == 429


async def test_a_server_that_is_not_there_is_told(studio: Studio) -> None:
    async with Glisk("http://127.0.0.1:1", patience=0.2) as nowhere:
        with pytest.raises(Problem, match="not reached"):
            await nowhere.jobs.make("fog")


async def test_files_are_brought_looked_at_and_fetched(glisk: Glisk) -> None:
    (kept,) = await glisk.files.upload({"my brick.png": a_picture()})
    assert (kept.key, kept.content_type, kept.size) == ("anna/my brick.png", "image/png", len(a_picture()))
    assert await glisk.files.raw(kept.key) == a_picture()
    assert [image.data async for image in glisk.files.images("anna")] == [a_picture()]
    assert [image async for image in glisk.files.images("anna")] == []
    assert [image.name async for image in glisk.files.images("anna", again=True)] == ["my brick.png"]


async def test_files_that_broke_on_their_way_are_had_again(shaky: Glisk, network: Snapping) -> None:
    await shaky.files.upload({"brick.png": a_picture()})
    network.snap("GET /images/", after=400)
    assert [image.data async for image in shaky.files.images("anna")] == [a_picture()]


async def test_a_project_is_made_edited_and_watched(studio: Studio, glisk: Glisk) -> None:
    project = await glisk.projects.make(a_picture(), project_type="existing")
    assert (project.status, project.project_type, project.user_id) == ("draft", "existing", "anna")
    watching = glisk.projects.watch(project.project_id)
    assert (await anext(watching)).status == "draft"
    sample, region = Sample(as_data_url(a_picture(1)), "Brick"), MaskRegion(0, as_data_url(a_picture(2)))
    edit = await glisk.projects.generate(project.project_id, "brick", samples=[sample], mask_regions=[region])
    assert (edit.status, (await anext(watching)).job_id) == ("processing", edit.job_id)
    await studio.settle(str(edit.job_id), "failed", error="It broke")
    failed = await anext(watching)
    assert (failed.status, failed.error_message) == ("failed", "It broke")
    other = await glisk.projects.make(as_data_url(a_picture()))
    listed = [each.project_id async for each in glisk.projects.list(limit=1)]
    assert listed == [other.project_id, project.project_id]
    await glisk.projects.remove(project.project_id)
    assert [each async for each in watching] == []
    with pytest.raises(Problem, match="GLK-821"):
        await glisk.projects.show(project.project_id)


async def test_conversations_tokens_and_events(studio: Studio, glisk: Glisk, connection: Any) -> None:
    made = await glisk.conversations.make("dm", conversation_id="c 17")
    assert await glisk.conversations.make("dm", conversation_id="c 17") == made
    job = await glisk.jobs.make(name="title_and_description", conversation_id="c 17", data={"prompt": "fog"})
    assert [each.job_id for each in (await glisk.conversations.show("c 17")).jobs] == [job.job_id]
    assert [each.type async for each in glisk.conversations.list()] == ["dm"]
    await glisk.conversations.remove("c 17")
    assert [each async for each in glisk.conversations.list()] == []
    id, happening = await a_token_row(connection, 7), glisk.events()
    hearing = asyncio.create_task(anext(happening))
    while not hearing.done():  # who follows hears what happens from then on
        await connection.execute(MOVED, id)
        await asyncio.wait([hearing], timeout=0.1)
    assert (await hearing).kind == "token"
    await happening.aclose()
    assert [each.token_id async for each in glisk.tokens.list()] == ["7"]
    assert (await glisk.tokens.show(7)).status == "detected"
