"""The operator's pages over real HTTP: what they show, and what becomes of what is done there."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from glisk.repositories.author_repository import AuthorRepository
from glisk.repositories.system_board import SystemBoard
from glisk.web import spend
from tests.installations import furnish
from tests.integration.test_chain_board import follow
from tests.web import House, opened

AUTHOR = "0x" + "ab" * 20
FREE_PICTURES = """
    INSERT INTO attempts (item_id, step, epoch, provider, outcome, cost, worker, finished_at)
    SELECT n, 'generating', 1, 'studio', 'done', 0, 'w', now() FROM generate_series(1, 12) n"""
PAGES = ["/pipeline", "/failures", "/j", "/chain", "/spend", "/system", "/system/checks"]


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    async with opened(database_url, tmp_path / "data", daily_budget="5", replicate_api_token="r8_secret") as house:
        yield house


@pytest.fixture
async def browser(house: House) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=house.address, follow_redirects=True) as browser:
        yield browser


@pytest.fixture
async def furnished(house: House, connection: Any) -> None:
    await furnish(connection, house.link)


async def shown(browser: httpx.AsyncClient, page: str) -> str:
    answer = await browser.get(page)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_is_only_for_the_operator(database_url: str, tmp_path: Path, page: str) -> None:
    async with (
        opened(database_url, tmp_path / "data", is_local=False) as house,
        httpx.AsyncClient(base_url=house.address) as stranger,
    ):
        refused = await stranger.get(page)
        assert (refused.status_code, "GLK-801" in refused.text) == (401, True)
        key = {"Authorization": f"Bearer {await house.key()}"}
        assert (await stranger.get(page, headers=key)).status_code == 200


@pytest.mark.parametrize("action", ["/lanes/a/hold", "/lanes/a/resume", "/lanes/a/limit", "/failures/retry"])
async def test_an_action_is_only_for_the_operator(database_url: str, tmp_path: Path, action: str) -> None:
    async with (
        opened(database_url, tmp_path / "data", is_local=False) as house,
        httpx.AsyncClient(base_url=house.address) as stranger,
    ):
        assert (await stranger.post(action)).status_code == 401


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("/pipeline", "glisk chain status"),
        ("/failures", "glisk tokens ls --status failed"),
        ("/j", "glisk jobs ls"),
        ("/chain", "GLISK_CONTRACTS"),
        ("/spend", "GLISK_REPLICATE_API_TOKEN"),
        ("/system", "glisk keys create"),
    ],
)
async def test_an_empty_page_teaches(browser: httpx.AsyncClient, page: str, told: str) -> None:
    assert told in await shown(browser, page)


@pytest.mark.usefixtures("furnished")
async def test_the_pipeline_shows_how_far_and_how_long(browser: httpx.AsyncClient) -> None:
    page = await shown(browser, "/pipeline")
    for told in ("GLK-302", "3 of 4 in use", "The node is being moved", "2.5 a second", "/?status=detected"):
        assert told in page


@pytest.mark.usefixtures("furnished")
async def test_a_lane_is_held_resumed_and_limited_under_the_visitors_name(
    house: House, browser: httpx.AsyncClient
) -> None:
    assert "replicate is held." in (await browser.post("/lanes/replicate/hold", data={"reason": "no credit"})).text
    again = await browser.post("/lanes/replicate/hold", data={"reason": "another"})
    assert "was held already" in again.text
    assert "no credit" in again.text
    assert "replicate is open." in (await browser.post("/lanes/replicate/resume")).text
    limits = {"concurrency": "7", "rate": "1.5"}
    assert "7 at once, 1.5 a second" in (await browser.post("/lanes/replicate/limit", data=limits)).text
    limits = {"concurrency": "9", "rate": ""}
    assert "9 at once, as often" in (await browser.post("/lanes/replicate/limit", data=limits)).text
    deeds = [(deed.actor, deed.what) for deed in await SystemBoard(house.link).audit(limit=4)]
    assert deeds == [("this machine", what) for what in ("lane limited", "lane limited", "lane resumed", "lane held")]


@pytest.mark.usefixtures("furnished")
@pytest.mark.parametrize(
    ("action", "fields", "status"),
    [
        ("replicate/hold", {"reason": " "}, 400),
        ("replicate/hold", {"reason": "x" * 501}, 400),
        ("nowhere/hold", {"reason": "why"}, 404),
        ("nowhere/resume", {}, 404),
        ("replicate/limit", {"concurrency": "-1"}, 400),
        ("replicate/limit", {"concurrency": "10000000"}, 400),
        ("replicate/limit", {"concurrency": "1", "rate": "0"}, 400),
        ("replicate/limit", {"concurrency": "1", "rate": "nan"}, 400),
    ],
)
async def test_what_cannot_be_done_to_a_lane_is_told(
    browser: httpx.AsyncClient, action: str, fields: dict[str, str], status: int
) -> None:
    assert (await browser.post(f"/lanes/{action}", data=fields)).status_code == status


@pytest.mark.usefixtures("furnished")
async def test_a_group_of_failures_is_retried_as_it_was_seen(browser: httpx.AsyncClient) -> None:
    page = await shown(browser, "/failures")
    assert "Retry these 7" in page
    assert "The fallback prompt was refused too." in page
    alone = await shown(browser, "/failures?workflow=token&step=generating&cause=GLK-302")
    assert alone.count("The fallback prompt was refused too.") == 8
    until = datetime.now(UTC).isoformat()
    fields = {"workflow": "token", "step": "generating", "cause": "GLK-302", "until": until}
    assert "7 of 7 are tried again." in (await browser.post("/failures/retry", data=fields)).text
    assert "nothing left to retry" in (await browser.post("/failures/retry", data=fields)).text
    for until in ("", "yesterday", "2026-01-01"):
        assert (await browser.post("/failures/retry", data=fields | {"until": until})).status_code == 400


@pytest.mark.usefixtures("furnished")
async def test_jobs_are_filtered_and_each_has_its_page(browser: httpx.AsyncClient, connection: Any) -> None:
    assert "unexpected KeyError" in await shown(browser, "/j?workflow=image_edit&status=failed")
    assert "There are no such jobs." in await shown(browser, "/j?workflow=llm_task")
    id = await connection.fetchval("SELECT id FROM jobs WHERE status = 'failed'")
    assert "more light" in await shown(browser, f"/j/{id}")
    retried = await browser.post(f"/j/{id}/retry")
    assert f"Job {id} is tried again." in retried.text
    assert f"Job {id} is paused." in (await browser.post(f"/j/{id}/pause")).text
    assert f"Job {id} is going on." in (await browser.post(f"/j/{id}/resume")).text
    assert f"Job {id} is cancelled." in (await browser.post(f"/j/{id}/cancel")).text
    assert "was left as it is" in (await browser.post(f"/j/{id}/cancel")).text
    assert (await browser.get("/j/999999999")).status_code == 404
    assert (await browser.get("/j?before=x")).status_code == 400


@pytest.mark.usefixtures("furnished")
async def test_jobs_that_wait_say_for_what(browser: httpx.AsyncClient, connection: Any) -> None:
    paused, delayed, again = [
        row["id"] for row in await connection.fetch("SELECT id FROM jobs WHERE status = 'pending'")
    ]
    await connection.execute("UPDATE jobs SET paused_at = now() WHERE id = $1", paused)
    await connection.execute("UPDATE jobs SET not_before = now() + interval '1 hour' WHERE id = $1", delayed)
    await connection.execute(
        "UPDATE jobs SET retry_count = 2, last_retry = now(), error_message = 'The model is cold' WHERE id = $1", again
    )
    page = await shown(browser, "/j")
    for told in ("paused", "delayed", "Tried again by themselves", "The model is cold"):
        assert told in page
    assert "Tried again by themselves" not in await shown(browser, "/j?workflow=llm_task")


@pytest.mark.usefixtures("furnished")
async def test_a_workflow_is_paused_and_resumed(browser: httpx.AsyncClient) -> None:
    assert "image_edit is paused." in (await browser.post("/workflows/image_edit/pause")).text
    assert "image_edit goes on." in (await browser.post("/workflows/image_edit/resume")).text
    assert (await browser.post("/workflows/token/pause")).status_code == 404


@pytest.mark.usefixtures("furnished")
async def test_many_jobs_are_paged(browser: httpx.AsyncClient, connection: Any) -> None:
    await connection.execute(
        "INSERT INTO jobs (workflow, status, user_id, project_id) SELECT 'image_edit', 'pending', 'anna', project_id FROM projects, generate_series(1, 60)"
    )
    page = await shown(browser, "/j")
    _, _, after = page.partition("before=")
    older = await shown(browser, f"/j?before={after.partition(chr(34))[0]}")
    assert "unexpected KeyError" in older
    assert "unexpected KeyError" not in page


@pytest.mark.usefixtures("furnished")
async def test_the_chain_shows_its_blocks_the_keeper_and_what_was_reorganised(browser: httpx.AsyncClient) -> None:
    page = await shown(browser, "/chain")
    for told in ("1\u202f290", "2 behind", "healed", "low", 'role="img"', ">40<"):
        assert told in page


async def test_a_contract_that_is_halted_is_an_alarm(browser: httpx.AsyncClient, connection: Any) -> None:
    await follow(connection, halted="A reorganisation too deep")
    page = await shown(browser, "/chain")
    assert 'role="alert"' in page
    assert "A reorganisation too deep" in page


@pytest.mark.usefixtures("furnished")
async def test_the_spend_is_told_by_day_model_and_author(browser: httpx.AsyncClient) -> None:
    page = await shown(browser, "/spend?days=30")
    for told in ("flux-pro", "budget $5.00", "Gas by day", "$0.0400"):
        assert told in page
    assert "/?author=0x" in await shown(browser, "/spend/authors?days=30")
    assert (await browser.get("/spend?days=31")).status_code == 400


async def test_pictures_that_cost_nothing_are_told_to_be_free(browser: httpx.AsyncClient, connection: Any) -> None:
    await connection.execute(FREE_PICTURES)
    page = await shown(browser, "/spend")
    assert re.search(r"Pictures</dt>\s*<dd[^>]*>\s*12", page)
    assert re.search(r"Each picture</dt>\s*<dd[^>]*>\s*free", page)
    assert "Dollars by day</h2>" not in page, "a chart of nothing"
    assert '<td class="n">free</td>' in page


def test_more_models_than_looks_share_the_last_one() -> None:
    rows = [{"model": f"m{n}", "dollars": n} for n in range(9)] + [{"model": "gas", "dollars": 0}]
    assert spend.series_of(rows) == ["m8", "m7", "m6", "m5", "others"]


@pytest.mark.usefixtures("furnished")
async def test_the_system_hides_secrets_and_tells_who_did_what(browser: httpx.AsyncClient) -> None:
    page = await shown(browser, "/system")
    assert "GLISK_REPLICATE_API_TOKEN" in page
    assert "r8_secret" not in page
    for told in ("key made", "lane held", "ipfs · The node is being moved", "host-7-12", "The lane replicate is held."):
        assert told in page


async def test_what_authors_publish_is_shown_when_it_is_asked_for(house: House, browser: httpx.AsyncClient) -> None:
    authors = AuthorRepository(house.link)
    await authors.publish(AUTHOR, "A fox", None, None, None, AUTHOR)
    await authors.publish(AUTHOR, "A hare", None, None, None, "anna")
    page, whole = await shown(browser, "/system"), await shown(browser, "/system?authors=1")
    assert [page.count("prompt published"), whole.count("prompt published")] == [1, 2]


@pytest.mark.parametrize("query", ["status=zzz", "workflow=zzz", "before=zzz"])
async def test_jobs_that_cannot_be_asked_for_are_refused(browser: httpx.AsyncClient, query: str) -> None:
    refused = await browser.get(f"/j?{query}")
    assert (refused.status_code, "GLK-806" in refused.text) == (400, True)


@pytest.mark.usefixtures("furnished")
async def test_a_key_is_revoked_and_the_audit_log_is_paged(
    house: House, browser: httpx.AsyncClient, connection: Any
) -> None:
    id = await connection.fetchval("SELECT key_id FROM api_keys")
    assert "The key is revoked." in (await browser.post(f"/system/keys/{id}/revoke")).text
    await connection.execute(
        "INSERT INTO events (to_status, actor) SELECT 'lane limited', 'anna' FROM generate_series(1, 60)"
    )
    page = await shown(browser, "/system")
    assert "key revoked" not in page
    _, _, after = page.partition("/system?before=")
    assert "key revoked" in await shown(browser, f"/system?before={after.partition('#')[0]}")
