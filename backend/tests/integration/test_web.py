"""Pages over real HTTP: who sees what, how they are kept, and how a person logs in."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from glisk.web import assets, documentation
from tests.web import House, opened


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    """Open to the world."""
    async with opened(database_url, tmp_path / "data", is_local=False) as house:
        yield house


@pytest.fixture
async def browser(house: House) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=house.address) as browser:
        yield browser


async def test_a_code_is_explained(browser: httpx.AsyncClient) -> None:
    every, one = await browser.get("/errors"), await browser.get("/errors/glk-101")
    assert "GLK-801" in every.text
    assert "glisk explain GLK-101" in one.text


async def test_a_page_that_is_missing_says_what_to_do(browser: httpx.AsyncClient) -> None:
    missing = await browser.get("/errors/GLK-999")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "GLK-807" in missing.text


async def test_no_page_runs_what_is_written_into_it(browser: httpx.AsyncClient) -> None:
    policy = (await browser.get("/errors")).headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


async def test_assets_are_kept_for_ever_under_their_hash(browser: httpx.AsyncClient) -> None:
    name = "css/base.css"
    kept = await browser.get(assets.address(name))
    assert "immutable" in kept.headers["cache-control"]
    assert (await browser.get(f"/static/older/{name}")).headers["cache-control"] == "no-cache"
    assert (await browser.get("/static/older/../../pages.py")).status_code == 404


async def test_a_key_logs_in_and_out(house: House, browser: httpx.AsyncClient) -> None:
    entered = await browser.post("/login", data={"key": await house.key("anna"), "to": "/errors"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/errors")
    cookie = entered.headers.get_list("set-cookie")[1]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
    shown = await browser.get("/errors")
    assert "You are logged in as anna." in shown.text
    assert "/pipeline" in shown.text
    await browser.post("/logout")
    assert "/pipeline" not in (await browser.get("/errors")).text


async def test_a_wrong_key_is_refused_in_words(browser: httpx.AsyncClient) -> None:
    refused = await browser.post("/login", data={"key": "glk_wrong"})
    assert refused.status_code == 401
    assert "GLK-802" in refused.text


@pytest.mark.parametrize("to", ["https://evil.test/", "//evil.test", "/\\evil.test", "javascript:alert(1)"])
async def test_the_login_leads_nowhere_else(house: House, browser: httpx.AsyncClient, to: str) -> None:
    entered = await browser.post("/login", data={"key": await house.key(), "to": to})
    assert entered.headers["location"] == "/"


async def test_a_page_of_another_site_cannot_post(browser: httpx.AsyncClient) -> None:
    refused = await browser.post("/logout", headers={"Sec-Fetch-Site": "cross-site"})
    assert (refused.status_code, refused.json()["code"]) == (403, "GLK-803")


async def test_a_gallery_without_tokens_says_so(browser: httpx.AsyncClient) -> None:
    shown = await browser.get("/")
    assert shown.status_code == 200
    assert "Nothing has been minted yet." in shown.text


@pytest.mark.parametrize("query", ["status=none", "author=0x1", "before=x", "cursor=x"])
async def test_a_question_that_makes_no_sense_is_told_so(browser: httpx.AsyncClient, query: str) -> None:
    refused = await browser.get(f"/?{query}")
    assert refused.status_code == 400
    assert "<title>GLK-806 · Glisk</title>" in refused.text


async def test_the_api_is_described_by_a_page_of_ours(browser: httpx.AsyncClient) -> None:
    page, home = await browser.get("/docs"), await browser.get("/")
    document = (await browser.get("/openapi.json")).json()
    assert 'href="/docs"' in home.text
    assert "<title>Gallery · Glisk</title>" in home.text
    for path, methods in document["paths"].items():
        assert all(f"{method.upper()} {path}</code>" in page.text for method in methods)
    for told in ("next` of the page before", "curl -N http://gallery.test/events", "GLK-805: There is no such token."):
        assert told in page.text
    assert not re.search(r'(src|href)="(https?:)?//(?!gallery.test)', page.text), "something comes from elsewhere"


async def test_every_part_of_a_request_is_described(browser: httpx.AsyncClient) -> None:
    groups = documentation.calls((await browser.get("/openapi.json")).json(), "")
    found = [call for calls in groups.values() for call in calls]
    assert [call.path for call in found if not call.about] == []
    assert [(call.path, part.name) for call in found for part in call.parameters if not part.about] == []


@pytest.mark.parametrize("path", ["/", "/docs", "/errors/GLK-999", "/health", "/ready", "/tokens", "/openapi.json"])
async def test_head_is_told_what_get_would_be(browser: httpx.AsyncClient, path: str) -> None:
    head, whole = await browser.head(path), await browser.get(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]
    assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize("path", ["/events", "/live"])
async def test_the_head_of_a_stream_is_not_told(browser: httpx.AsyncClient, path: str) -> None:
    assert (await browser.head(path)).status_code == 405
