"""A prompt is drawn before it is published, for as much as a day of it may cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from tests.studio import Studio, client, number, open_studio

FOX = {"prompt": "A fox in the snow"}
PAID: dict[str, Any] = {
    "image_provider": "replicate",
    "replicate_api_token": SecretStr("r8_test"),
    "replicate_model": "own/model",
    "prices": {"own/model": {"image": "0.4"}},
}
ATTEMPT = """
    INSERT INTO attempts (item_id, step, epoch, provider, outcome, cost, worker, finished_at)
    SELECT id, 'processing', 1, 'replicate', 'done', $2, 'w', now() FROM jobs WHERE id = $1"""


@pytest.fixture
async def studio(database_url: str, tmp_path: Path) -> AsyncIterator[Studio]:
    async with open_studio(database_url, data_dir=tmp_path) as studio:
        yield studio


async def preview(client: httpx.AsyncClient) -> str:
    made = await client.post("/previews", json=FOX)
    assert made.status_code == 202, made.text
    return str(made.json()["previewId"])


async def test_anybody_sees_what_they_asked_for(studio: Studio) -> None:
    id = await preview(studio.public)
    waits = (await studio.public.get(f"/previews/{id}")).json()
    assert waits == {"previewId": id, "status": "pending", "picture": None, "error": None}
    assert (await studio.public.get(f"/previews/{id}/picture")).status_code == 404
    await studio.settle(id, "ready", b"picture")
    drawn = (await studio.public.get(f"/previews/{id}")).json()
    shown = await studio.public.get(drawn["picture"])
    assert (shown.content, shown.headers["content-type"]) == (b"picture", "image/png")
    assert "private" in shown.headers["cache-control"]


async def test_one_that_fails_says_why(studio: Studio) -> None:
    id = await preview(studio.anna)
    await studio.settle(id, "failed", error="The prompt was refused")
    assert (await studio.anna.get(f"/previews/{id}")).json()["error"] == "The prompt was refused"


async def test_what_is_no_preview_is_not_seen_by_its_id(studio: Studio) -> None:
    job_id = await studio.job()
    assert (await studio.public.get(f"/previews/{job_id}")).status_code == 404


@pytest.mark.parametrize("body", [{}, {"prompt": ""}, {"prompt": "x" * 1001}, {"prompt": 7}, [], "x"])
async def test_what_cannot_be_drawn_is_refused(body: Any, studio: Studio) -> None:
    assert (await studio.public.post("/previews", json=body)).status_code == 400
    assert await studio.rows("SELECT FROM jobs") == []


async def test_a_day_of_previews_costs_no_more_than_it_may(database_url: str, tmp_path: Path) -> None:
    async with open_studio(database_url, data_dir=tmp_path, **PAID) as studio:
        answers = await asyncio.gather(*(studio.public.post("/previews", json=FOX) for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [202, 202, 429, 429, 429]
        assert {answer.json()["code"] for answer in answers if answer.status_code == 429} == {"GLK-827"}
        assert (await studio.anna.post("/previews", json=FOX)).status_code == 202
        assert (await studio.operator.post("/previews", json=FOX)).status_code == 202


async def test_what_was_paid_counts_and_yesterday_does_not(database_url: str, tmp_path: Path) -> None:
    async with open_studio(database_url, data_dir=tmp_path, **PAID) as studio:
        id = await preview(studio.anna)
        await studio.rows(ATTEMPT, number(id), Decimal("0.7"))
        await studio.settle(id, "ready", b"picture")
        await studio.anna.get("/jobResult", params={"jobId": id})
        assert (await studio.anna.post("/previews", json=FOX)).status_code == 429
        await studio.rows("UPDATE attempts SET started_at = now() - interval '1 day'")
        assert (await studio.anna.post("/previews", json=FOX)).status_code == 202


@pytest.mark.parametrize(("limit", "codes"), [("0", [429]), ("0.4", [202, 429]), ("5", [202, 202, 202])])
async def test_a_key_has_a_limit_of_its_own(limit: str, codes: list[int], database_url: str, tmp_path: Path) -> None:
    async with open_studio(database_url, data_dir=tmp_path, **PAID) as studio:
        zoe = await client(studio.visit, "zoe", daily_limit=Decimal(limit))
        assert [(await zoe.post("/previews", json=FOX)).status_code for _ in codes] == codes
        await zoe.aclose()


async def test_what_costs_nothing_is_drawn_until_too_many_wait(studio: Studio) -> None:
    zoe = await client(studio.visit, "zoe", daily_limit=Decimal(0))
    codes = [(await zoe.post("/previews", json=FOX)).status_code for _ in range(21)]
    assert codes == [202] * 20 + [429]
    await zoe.aclose()
