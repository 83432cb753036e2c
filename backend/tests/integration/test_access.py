"""Who is taken for the operator, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.hosting import Home, application
from glisk.repositories.key_repository import KeyRepository
from glisk.settings import Settings
from tests.serving import served


@pytest.fixture
async def visitor(database_url: str, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Of a server that only this machine can reach."""
    home = Home(settings := Settings(data_dir=tmp_path), settings, database_url)
    async with application(home) as app, served(app) as address, httpx.AsyncClient(base_url=address) as visitor:
        yield visitor


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Real-IP", "Via"])
async def test_on_this_machine_everybody_is_but_not_whom_a_proxy_passes_on(
    header: str, link: Link, visitor: httpx.AsyncClient
) -> None:
    secret = await KeyRepository(link).make("anna", "operator", "a test")
    passed_on = {header: "203.0.113.7"}
    assert (await visitor.get("/metrics")).status_code == 200
    assert (await visitor.get("/metrics", headers=passed_on)).status_code == 401
    with_key = {**passed_on, "Authorization": f"Bearer {secret}"}
    assert (await visitor.get("/metrics", headers=with_key)).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""])
async def test_a_name_that_is_not_ours_is_not_answered_on_this_machine(host: str, visitor: httpx.AsyncClient) -> None:
    refused = await visitor.get("/health", headers={"Host": host})
    assert (refused.status_code, refused.json()["code"]) == (403, "GLK-804")
    ours = {"Host": f"localhost:{visitor.base_url.port}"}
    assert (await visitor.get("/health", headers=ours)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
async def test_a_page_of_another_site_changes_nothing(
    headers: dict[str, str], link: Link, visitor: httpx.AsyncClient
) -> None:
    await lanes.make(link, "studio", 2)
    refused = await visitor.post("/lanes/studio/hold", data={"reason": "x"}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "GLK-803")
    assert (await lanes.every_lane(link))[0]["state"] == "open"
    ours = {"Origin": str(visitor.base_url).rstrip("/")}
    assert (await visitor.post("/lanes/studio/hold", data={"reason": "x"}, headers=ours)).status_code == 303
    assert (await lanes.every_lane(link))[0]["state"] == "held"


async def test_no_lane_is_limited_to_nothing(link: Link, visitor: httpx.AsyncClient) -> None:
    await lanes.make(link, "studio", 2)
    refused = await visitor.post("/lanes/studio/limit", data={"concurrency": "0", "rate": ""})
    assert (refused.status_code, "hold the lane" in refused.text) == (400, True)


async def test_keys_that_are_shown_at_the_same_moment_are_told_apart(link: Link) -> None:
    keys = KeyRepository(link)
    anna, ben = [await keys.make(name, "user", "a test") for name in ("anna", "ben")]
    found = await asyncio.gather(*map(keys.find, [anna, "glk_wrong", ben, anna]))
    assert [key and key.user_id for key in found] == ["anna", None, "ben", "anna"]
