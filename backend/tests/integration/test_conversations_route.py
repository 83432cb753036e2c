"""Conversations and users over real HTTP (seed 001): what is removed takes its jobs along."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.bringing import a_picture, upload
from tests.studio import Studio, open_studio

JOB = """
    INSERT INTO jobs (workflow, status, name, conversation_id, user_id) VALUES ('llm_task', 'waiting', $1, $2, $3) RETURNING id"""


@pytest.fixture
async def studio(database_url: str) -> AsyncIterator[Studio]:
    async with open_studio(database_url) as studio:
        yield studio


async def begin(studio: Studio, **body: Any) -> str:
    made = await studio.anna.post("/conversations", json={"type": "dm"} | body)
    assert made.status_code == 201, made.text
    return str(made.json()["conversationId"])


async def test_a_conversation_is_begun_and_shown_with_its_jobs(studio: Studio) -> None:
    made = await studio.anna.post("/conversations", json={"conversationId": "c-17", "type": "project_channel"})
    assert (made.status_code, made.json()) == (
        201,
        {"conversationId": "c-17", "type": "project_channel", "userId": "anna"},
    )
    assert (await studio.anna.get("/conversations/c-17")).json()["jobs"] == []
    await studio.rows(JOB, "title", "c-17", "anna")
    (job,) = (await studio.anna.get("/conversations/c-17")).json()["jobs"]
    assert (job["name"], job["status"], job["conversationId"]) == ("title", "waiting", "c-17")


async def test_begun_again_it_is_the_same_and_no_other_takes_its_id(studio: Studio) -> None:
    await begin(studio, conversationId="c")
    assert await begin(studio, conversationId="c") == "c"
    for client, body in ((studio.anna, {"type": "project_channel"}), (studio.ben, {"type": "dm"})):
        refused = await client.post("/conversations", json=body | {"conversationId": "c"})
        assert (refused.status_code, refused.json()["code"]) == (409, "GLK-828")
    assert len({await begin(studio) for _ in range(3)}) == 3


async def test_bad_ones_are_told_with_their_field(studio: Studio) -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({}, "type: it is missing"),
        ({"type": "x"}, "type: dm or project_channel is wanted"),
        ({"type": "dm", "conversationId": ""}, "conversationId: 1 to 200"),
        ({"type": "dm", "conversationId": "a/b"}, "conversationId: 1 to 200"),
        ({"type": "dm", "conversationId": "\0"}, "conversationId: 1 to 200"),
        ({"type": "dm", "conversationId": 7}, "conversationId: 1 to 200"),
        ({"type": "dm", "x": 1}, "x: there is no such field"),
    ]
    for body, why in bad:
        refused = await studio.anna.post("/conversations", json=body)
        assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806")
        assert why in refused.json()["message"]
    assert (await studio.anna.get("/conversations/%00")).status_code == 404
    assert (await studio.anna.get("/conversations?after=%00")).status_code == 400


async def test_pages_follow_each_other(studio: Studio) -> None:
    for n in range(5):
        await begin(studio, conversationId=f"c-{n}")
    first = (await studio.anna.get("/conversations?limit=3")).json()
    rest = (await studio.anna.get(f"/conversations?limit=3&after={first['next']}")).json()
    seen = [each["conversationId"] for each in first["conversations"] + rest["conversations"]]
    assert (seen, rest["next"]) == ([f"c-{n}" for n in range(5)], None)


async def test_nobody_else_finds_it_and_an_operator_does(studio: Studio) -> None:
    await begin(studio, conversationId="c")
    for refused in (await studio.public.get("/conversations"), await studio.public.get("/conversations/c")):
        assert (refused.status_code, refused.json()["code"]) == (401, "GLK-816")
    assert (await studio.public.delete("/conversations/c")).status_code == 401
    assert (await studio.public.post("/conversations", json={"type": "dm"})).status_code == 401
    for refused in (await studio.ben.get("/conversations/c"), await studio.ben.delete("/conversations/c")):
        assert (refused.status_code, refused.json()["code"]) == (404, "GLK-822")
    assert (await studio.ben.get("/conversations")).json()["conversations"] == []
    assert (await studio.ben.get("/conversations?user=anna")).status_code == 403
    assert (await studio.ben.post("/conversations", json={"type": "dm", "userId": "anna"})).status_code == 403
    assert (await studio.operator.get("/conversations/c")).status_code == 200
    assert len((await studio.operator.get("/conversations?user=anna")).json()["conversations"]) == 1
    made = await studio.operator.post("/conversations", json={"type": "dm", "userId": "clara"})
    assert made.json()["userId"] == "clara"


async def test_a_removed_conversation_takes_its_jobs_along_and_whoever_waited_for_them_goes_on(studio: Studio) -> None:
    await begin(studio, conversationId="gone")
    await begin(studio, conversationId="stays")
    (parent,) = await studio.rows(JOB, "first", "gone", "anna")
    (child,) = await studio.rows(JOB, "second", "stays", "anna")
    await studio.rows("INSERT INTO job_dependencies (parent_id, child_id) VALUES ($1, $2)", parent["id"], child["id"])
    await studio.rows("UPDATE jobs SET dependency_count = 1 WHERE id = $1", child["id"])
    assert (await studio.anna.delete("/conversations/gone")).status_code == 204
    assert (await studio.anna.get("/conversations/gone")).status_code == 404
    (left,) = await studio.rows("SELECT id, dependency_count FROM jobs")
    assert left == {"id": child["id"], "dependency_count": 0}


async def test_a_removed_user_takes_everything_along(studio: Studio) -> None:
    await begin(studio, conversationId="c")
    await studio.rows(JOB, "title", "c", "anna")
    await studio.anna.post("/projects", json={"originalImageUrl": "https://pictures.example/a.png"})
    await upload(studio.anna, ("a.png", a_picture()))
    for client, status in ((studio.public, 401), (studio.anna, 401), (studio.ben, 401)):
        assert (await client.delete("/users/anna")).status_code == status
    assert (await studio.operator.delete("/users/anna")).status_code == 204
    refused = await studio.operator.delete("/users/anna")
    assert (refused.status_code, refused.json()["code"]) == (404, "GLK-829")
    assert (await studio.anna.get("/conversations")).json()["code"] == "GLK-802"
    for table in ("jobs", "conversations", "projects", "files"):
        assert await studio.rows(f"SELECT FROM {table}") == []
    assert [row["user_id"] for row in await studio.rows("SELECT user_id FROM users")] == ["ben"]
