"""Jobs over HTTP: asked for, seen, watched, stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from glisk.repositories.relatives import parents_of
from tests.studio import Studio, client, number, open_studio


@pytest.fixture
async def studio(database_url: str, tmp_path: Path) -> AsyncIterator[Studio]:
    async with open_studio(database_url, data_dir=tmp_path) as studio:
        yield studio


PROMPT = {"prompt": "a lighthouse in fog"}


@pytest.mark.parametrize("path", ["/jobs", "/jobsRedis"])
async def test_a_job_is_made_and_seen(path: str, studio: Studio) -> None:
    made = await studio.anna.post(path, json=PROMPT | {"userId": "anna", "styles": ["noir"], "priority": 3})
    assert (made.status_code, made.json()["status"]) == (201, "pending")
    seen = (await studio.anna.get(f"/jobs/{made.json()['jobId']}")).json()
    assert seen["data"] == PROMPT | {"styles": ["noir"]}
    assert (seen["workflow"], seen["name"], seen["userId"], seen["priority"]) == ("r2_image", "image", "anna", 3)
    assert (seen["status"], seen["progress"], seen["attempts"], seen["finishedOn"]) == ("pending", 0, 0, None)


async def test_a_form_is_as_good_as_json(studio: Studio) -> None:
    form = PROMPT | {"userId": "anna", "styles": '["noir", "ink"]', "priority": "3", "delay": "60000", "seed": "7"}
    made = await studio.anna.post("/jobs", data=form)
    seen = (await studio.anna.get(f"/jobs/{made.json()['jobId']}")).json()
    assert seen["data"] == PROMPT | {"styles": ["noir", "ink"], "seed": "7"}
    assert (seen["priority"], seen["status"]) == (3, "delayed")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "prompt"),
    ({"prompt": ""}, "prompt"),
    ({"prompt": 7}, "prompt"),
    ({"prompt": "x" * 1001}, "prompt"),
    (PROMPT | {"workflow": "token"}, "workflow"),
    (PROMPT | {"status": "ready"}, "status"),
    (PROMPT | {"name": "king"}, "name"),
    (PROMPT | {"name": ""}, "name"),
    (PROMPT | {"priority": 10}, "priority"),
    (PROMPT | {"priority": "high"}, "priority"),
    (PROMPT | {"delay": -1}, "delay"),
    (PROMPT | {"attempts": 0}, "attempts"),
    (PROMPT | {"parent": "x"}, "parent"),
    (PROMPT | {"parents": "x"}, "parents"),
    (PROMPT | {"onFailure": "cry"}, "onFailure"),
    (PROMPT | {"webhookUrl": "ftp://x"}, "webhookUrl"),
    (PROMPT | {"webhookUrl": "http://"}, "webhookUrl"),
    (PROMPT | {"webhookUrl": "http://x y/"}, "webhookUrl"),
    (PROMPT | {"name": "lora_image"}, "lora_url"),
    (PROMPT | {"opts": []}, "opts"),
    (PROMPT | {"opts": {"attempts": 0}}, "attempts"),
    (PROMPT | {"data": "x"}, "data"),
    (PROMPT | {"userId": 7}, "userId"),
    (PROMPT | {"conversationId": "nowhere"}, "name"),
    (PROMPT | {"conversationId": "nowhere", "name": "sing"}, "name"),
    ({"conversationId": "nowhere", "name": "complete", "data": {}}, "data"),
    (PROMPT | {"width": 7}, "width"),
    (PROMPT | {"steps": "many"}, "steps"),
    (PROMPT | {"seed": -1}, "seed"),
    (PROMPT | {"lora": {"name": "x", "url": "http://x"}}, "lora"),
    (PROMPT | {"data": {"lora": {"name": "x", "url": "http://x"}}}, "lora"),
    (PROMPT | {"note": "\x00"}, "NUL"),
]


async def test_what_is_wrong_is_named_and_nothing_is_written(studio: Studio) -> None:
    for body, field in WRONG:
        refused = await studio.anna.post("/jobs", json=body)
        assert refused.status_code == 400, body
        assert field in refused.json()["message"] + refused.json()["remedy"]
        assert set(refused.json()) == {"code", "message", "remedy"}
    assert await studio.rows("SELECT FROM jobs") == []


async def test_a_body_that_is_none_is_refused(studio: Studio) -> None:
    deep = b'{"prompt": "x", "z": ' + b'{"a": ' * 300 + b"1" + b"}" * 300 + b"}"
    for body in (b"", b"x", b"[]", b'"x"', b"{", b'{"a": \xff}', b'{"prompt": "\xff"}', b"[" * 10_000, deep):
        refused = await studio.anna.post("/jobs", content=body, headers={"Content-Type": "application/json"})
        assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806"), body


async def test_a_body_that_is_too_large_is_refused(studio: Studio) -> None:
    refused = await studio.anna.post("/jobs", json=PROMPT | {"note": "x" * (1 << 20)})
    assert (refused.status_code, refused.json()["code"]) == (413, "GLK-808")


async def test_an_operator_says_whose_job_it_is(studio: Studio) -> None:
    assert (await studio.operator.post("/jobs", json=PROMPT)).status_code == 400
    made = await studio.operator.post("/jobs", json=PROMPT | {"userId": "zoe"})
    assert made.status_code == 201
    assert (await studio.operator.get("/jobs", params={"user": "zoe"})).json()["jobs"][0]["userId"] == "zoe"
    assert (await studio.anna.get(f"/jobs/{made.json()['jobId']}")).status_code == 404


async def test_nobody_acts_for_somebody_else(studio: Studio) -> None:
    refused = await studio.anna.post("/jobs", json=PROMPT | {"userId": "ben"})
    assert (refused.status_code, refused.json()["code"]) == (403, "GLK-818")
    assert (await studio.anna.get("/jobs", params={"user": "ben"})).status_code == 403
    assert await studio.rows("SELECT FROM jobs") == []


async def test_what_is_somebody_elses_is_not_there(studio: Studio) -> None:
    job_id = await studio.job()
    for verb in ("", "/cancel", "/pause", "/resume", "/retry", "/events"):
        ask = studio.ben.get if verb in ("", "/events") else studio.ben.post
        refused = await ask(f"/jobs/{job_id}{verb}")
        assert (refused.status_code, refused.json()["code"]) == (404, "GLK-819"), verb
    assert (await studio.ben.get("/jobs")).json() == {"jobs": [], "next": None}
    assert (await studio.ben.get("/jobResult", params={"jobId": job_id})).status_code == 404
    refused = await studio.ben.post("/jobs", json=PROMPT | {"parent": job_id})
    assert (refused.status_code, refused.json()["code"]) == (404, "GLK-819")
    (row,) = await studio.rows("SELECT status, paused_at, epoch FROM jobs")
    assert row == {"status": "pending", "paused_at": None, "epoch": 0}


ROUTES = (
    *(("POST", "/jobs"), ("POST", "/jobsRedis"), ("GET", "/jobs"), ("GET", "/jobResult?jobId={id}")),
    *(("GET", "/jobs/{id}"), ("GET", "/jobs/{id}/events")),
    *(("POST", f"/jobs/{{id}}/{verb}") for verb in ("cancel", "pause", "resume", "retry")),
)


async def test_without_a_key_nothing_is_told(studio: Studio) -> None:
    worker, job_id = await client(studio.visit, "w"), await studio.job()
    await studio.rows("UPDATE api_keys SET scope = 'worker', user_id = NULL WHERE user_id = 'w'")
    for method, path in ROUTES:
        for visitor in (studio.public, worker):
            refused = await visitor.request(method, path.format(id=job_id), json=PROMPT if method == "POST" else None)
            assert (refused.status_code, refused.json()["code"]) == (401, "GLK-816"), path
        wrong = await studio.public.request(
            method, path.format(id=job_id), headers={"Authorization": "Bearer glk_wrong"}
        )
        assert (wrong.status_code, wrong.json()["code"]) == (401, "GLK-802"), path
    await worker.aclose()


async def test_a_page_follows_the_other(studio: Studio) -> None:
    made = [await studio.job() for _ in range(5)]
    await studio.ben.post("/jobs", json=PROMPT)
    seen, cursor = list[str](), None
    for _ in range(3):
        page = (await studio.anna.get("/jobs", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        seen, cursor = seen + [job["jobId"] for job in page["jobs"]], page["next"]
    assert (seen, cursor) == (made[::-1], None)
    everybody = (await studio.operator.get("/jobs", params={"limit": 4})).json()
    assert len(everybody["jobs"]) == 4
    rest = (await studio.operator.get("/jobs", params={"cursor": everybody["next"]})).json()
    assert len(rest["jobs"]) == 2
    for wrong in ({"cursor": "x"}, {"status": "\0"}, {"name": "\0"}, {"limit": 0}):
        assert (await studio.anna.get("/jobs", params=wrong)).status_code == 400


async def test_jobs_are_found_by_their_status(studio: Studio) -> None:
    done, paused, waits, late = [await studio.job(**extra) for extra in ({}, {}, {}, {"delay": 60_000})]
    await studio.settle(done, "ready", b"picture")
    await studio.anna.post(f"/jobs/{paused}/pause")
    for status, job_id in (("ready", done), ("paused", paused), ("pending", waits), ("delayed", late)):
        found = (await studio.anna.get("/jobs", params={"status": status})).json()["jobs"]
        assert [(job["jobId"], job["status"]) for job in found] == [(job_id, status)]


async def test_a_job_is_paused_resumed_cancelled_and_retried(studio: Studio) -> None:
    job_id = await studio.job()
    for verb, status in (("pause", "paused"), ("resume", "pending"), ("cancel", "failed"), ("retry", "pending")):
        done = await studio.anna.post(f"/jobs/{job_id}/{verb}")
        assert (done.status_code, done.json()["status"]) == (200, status)
    events = await studio.rows("SELECT DISTINCT actor FROM events WHERE item_id = $1", number(job_id))
    assert events == [{"actor": "anna's key"}]


@pytest.mark.parametrize("verb", ["cancel", "pause", "resume", "retry"])
async def test_what_has_ended_well_stays_so(verb: str, studio: Studio) -> None:
    job_id = await studio.job()
    await studio.settle(job_id, "ready", b"picture")
    refused = await studio.anna.post(f"/jobs/{job_id}/{verb}")
    assert (refused.status_code, refused.json()["code"]) == (409, "GLK-824")


async def test_a_job_waits_for_others(studio: Studio) -> None:
    first, second = await studio.job(), await studio.job()
    child = await studio.job(parents=[first, second])
    seen = (await studio.anna.get(f"/jobs/{child}")).json()
    assert (seen["dependencyCount"], seen["parentJobId"], seen["readyAt"]) == (2, first, None)
    await studio.anna.post(f"/jobs/{first}/cancel")
    assert (await studio.anna.get(f"/jobs/{child}")).json()["status"] == "failed"
    refused = await studio.anna.post("/jobs", json=PROMPT | {"parent": first})
    assert (refused.status_code, "parents" in refused.json()["message"]) == (400, True)
    refused = await studio.anna.post(f"/jobs/{child}/retry")
    assert (refused.status_code, refused.json()["code"]) == (409, "GLK-824")
    for job_id in (first, second):
        await studio.settle(job_id, "ready", b"picture")
    assert (await studio.anna.post(f"/jobs/{child}/retry")).status_code == 200


async def test_a_job_knows_those_that_had_ended_before_it_was_made(studio: Studio) -> None:
    first = await studio.job()
    await studio.settle(first, "ready", b"picture")
    child = await studio.job(parents=[first])
    seen = (await studio.anna.get(f"/jobs/{child}")).json()
    assert (seen["dependencyCount"], seen["parentJobId"]) == (0, first)
    assert [each.id for each in await parents_of(studio.visit.link.fetch, number(child))] == [number(first)]


async def test_whoever_left_an_address_is_told_of_the_end_by_a_job_that_waits_for_it(studio: Studio) -> None:
    job_id = await studio.job(webhookUrl="https://app.example/hook")
    assert [job["jobId"] for job in (await studio.anna.get("/jobs")).json()["jobs"]] == [job_id]
    (told,) = (await studio.anna.get("/jobs", params={"name": "webhook"})).json()["jobs"]
    assert (told["parentJobId"], told["dependencyCount"], told["userId"]) == (job_id, 1, "anna")
    assert told["data"] == {"url": "https://app.example/hook", "job_id": job_id}
    await studio.anna.post(f"/jobs/{job_id}/cancel")
    assert (await studio.anna.get(f"/jobs/{told['jobId']}")).json()["dependencyCount"] == 0


async def test_a_conversation_must_be_theirs(studio: Studio) -> None:
    await studio.rows("INSERT INTO conversations VALUES ('c', 'dm', 'anna')")
    body = {"conversationId": "c", "name": "title_and_description", "data": PROMPT, "opts": {"attempts": 5}}
    refused = await studio.ben.post("/jobs", json=body)
    assert (refused.status_code, refused.json()["code"]) == (404, "GLK-822")
    made = await studio.anna.post("/jobs", json=body)
    seen = (await studio.anna.get(f"/jobs/{made.json()['jobId']}")).json()
    assert (seen["status"], seen["workflow"], seen["conversationId"]) == ("waiting", "llm_task", "c")
    assert (seen["data"], seen["maxAttempts"]) == (PROMPT, 5)


async def test_the_same_request_makes_one_job(studio: Studio) -> None:
    key = {"Idempotency-Key": "k-1"}
    asked = [studio.anna.post("/jobs", json=PROMPT, headers=key) for _ in range(8)]
    answers = await asyncio.gather(*asked)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["jobId"] for answer in answers}) == 1
    assert len(await studio.rows("SELECT FROM jobs")) == 1
    another = await studio.anna.post("/jobs", json={"prompt": "a cat"}, headers=key)
    assert (another.status_code, another.json()["code"]) == (409, "GLK-823")
    theirs = await studio.ben.post("/jobs", json=PROMPT, headers=key)
    assert theirs.status_code == 201
    assert len(await studio.rows("SELECT FROM jobs")) == 2


async def test_no_user_has_more_open_jobs_than_are_allowed(database_url: str, tmp_path: Path) -> None:
    async with open_studio(database_url, data_dir=tmp_path, open_jobs=2) as studio:
        asked = [studio.anna.post("/jobs", json=PROMPT) for _ in range(4)]
        codes = sorted([answer.status_code for answer in await asyncio.gather(*asked)])
        assert codes == [201, 201, 429, 429]
        assert (await studio.ben.post("/jobs", json=PROMPT)).status_code == 201


async def test_a_key_asks_as_often_as_it_may(studio: Studio) -> None:
    slow = await client(studio.visit, "zoe", rate=2)
    codes = [(await slow.get("/jobs")).status_code for _ in range(3)]
    refused = await slow.get("/jobs")
    assert (codes, refused.json()["code"]) == ([200, 200, 429], "GLK-817")
    assert 1 <= int(refused.headers["Retry-After"]) <= 30
    await slow.aclose()


async def test_on_this_machine_no_key_is_wanted_until_there_is_one(database_url: str, tmp_path: Path) -> None:
    async with open_studio(database_url, data_dir=tmp_path, public_url="") as studio:
        made = await studio.public.post("/jobs", json=PROMPT | {"userId": "anna"})
        assert made.status_code == 401
        await studio.rows("UPDATE api_keys SET revoked_at = now()")
        made = await studio.public.post("/jobs", json=PROMPT | {"userId": "anna"})
        assert made.status_code == 201
        assert (await studio.public.get("/jobs")).json()["jobs"][0]["userId"] == "anna"


@pytest.mark.parametrize(
    "job_id", ["d78bcb7e-6121-4758-805c-99a528fdfeb0", "x", "1", "00000000-0000-4000-8000-000000000001"]
)
async def test_a_job_that_never_was_is_not_there(job_id: str, studio: Studio) -> None:
    missing = await studio.anna.get(f"/jobs/{job_id}")
    assert missing.status_code in (400, 404)
    assert missing.json()["code"] in ("GLK-806", "GLK-819")


async def events_of(client: httpx.AsyncClient, job_id: str) -> AsyncIterator[dict[str, Any]]:
    async with client.stream("GET", f"/jobs/{job_id}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


async def test_a_job_is_watched_until_it_ends(studio: Studio) -> None:
    job_id = await studio.job()
    seen = events_of(studio.anna, job_id)
    assert await anext(seen) == {"status": "pending", "progress": 0, "error": None}
    await studio.rows(
        "UPDATE jobs SET status = 'processing', leased_by = 'w', leased_until = now() + interval '1 min', progress = 40"
    )
    assert await anext(seen) == {"status": "processing", "progress": 40, "error": None}
    await studio.rows("UPDATE jobs SET leased_by = NULL, leased_until = NULL")
    await studio.settle(job_id, "failed", error="It broke")
    assert [event async for event in seen] == [{"status": "failed", "progress": 100, "error": "It broke"}]


async def test_a_key_that_is_revoked_watches_no_more(studio: Studio) -> None:
    job_id = await studio.job()
    seen = events_of(studio.anna, job_id)
    await anext(seen)
    await studio.rows("UPDATE api_keys SET revoked_at = now() WHERE user_id = 'anna'")
    await studio.settle(job_id, "ready", b"picture")
    assert [event async for event in seen] == []


async def test_a_job_that_has_ended_is_told_once(studio: Studio) -> None:
    job_id = await studio.job()
    await studio.settle(job_id, "ready", b"picture")
    assert [event["status"] async for event in events_of(studio.anna, job_id)] == ["ready"]


async def test_whoever_watches_a_job_that_is_deleted_hears_the_end(studio: Studio) -> None:
    job_id = await studio.job()
    seen = events_of(studio.anna, job_id)
    await anext(seen)
    await studio.rows("DELETE FROM jobs")
    assert [event async for event in seen] == []
