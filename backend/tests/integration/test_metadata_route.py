"""GET /metadata/… over real HTTP: nothing before its time, then exactly what was pinned."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from glisk.api import metadata
from glisk.api.app import create_app
from glisk.engine.link import Link
from glisk.publishing.commitment import opens
from glisk.publishing.metadata import metadata_of, provenance_wallet
from glisk.settings import Settings
from glisk.storage.objects import Objects
from tests.builders import CHAIN, CONTRACT, DRAWN, PINNED, a_token_row
from tests.integration.test_origin import drawn
from tests.serving import served

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEASE: dict[str, Any] = {"leased_by": "w", "leased_until": NOW}
REVEALED: dict[str, Any] = {"status": "revealed", "finished_at": NOW, "token_uri": "ipfs://bafymetadata"}
OTHER = "0x" + "d1" * 20
BEFORE: dict[str, dict[str, Any]] = {
    "detected": {},
    "generating": LEASE,
    "uploading": DRAWN,
    "pinning": DRAWN | LEASE,
    "ready": {},
    "revealing": LEASE,
    "failed": {"finished_at": NOW, "generation_error": "no"},
    "review": {"finished_at": NOW, "generation_error": "it is nearly blank", **DRAWN},
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, prompt_disclosure="later")


@pytest.fixture
def objects(settings: Settings) -> Objects:
    return Objects.of(settings)


@asynccontextmanager
async def visiting(
    link: Link, objects: Objects, settings: Settings, *, reveals: bool = True
) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(objects, metadata.router(link, objects, settings, reveals=reveals))
    async with served(app) as url, httpx.AsyncClient(base_url=f"{url}/metadata") as browser:
        yield browser


@pytest.fixture
async def browser(link: Link, objects: Objects, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with visiting(link, objects, settings) as browser:
        yield browser


@pytest.fixture
def pinned(link: Link, connection: Any, objects: Objects, settings: Settings) -> Callable[..., Awaitable[bytes]]:
    """A token as the pinning step leaves it, and its metadata."""

    async def make(token_id: int = 7, choice: str | None = None, **columns: Any) -> bytes:
        item = await a_token_row(connection, token_id, **DRAWN)
        await connection.execute("UPDATE authors SET prompt_disclosure = $1", choice)
        await drawn(link, item)
        (row,) = await link.fetch("SELECT * FROM tokens_s0 WHERE id = $1", item)
        data, salt = await metadata_of(link.fetch, row, "bafyimage", settings, provenance_wallet(settings))
        columns = {"image_cid": "bafyimage", "metadata_cid": await kept(objects, data), "prompt_salt": salt} | columns
        changes = ", ".join(f"{name} = ${n}" for n, name in enumerate(columns, 2))
        await connection.execute(f"UPDATE tokens_s0 SET {changes} WHERE id = $1", item, *columns.values())
        return data

    return make


async def kept(objects: Objects, data: bytes) -> str:
    stored = await objects.put(data, "application/json", "json")
    cid = b"\x01\x55\x12\x20" + bytes.fromhex(stored.sha256)
    return "b" + base64.b32encode(cid).decode().lower().rstrip("=")


async def test_a_revealed_token_shows_exactly_what_was_pinned(browser: httpx.AsyncClient, pinned: Any) -> None:
    data = await pinned(2**256 - 1, **REVEALED)
    for path in (f"/{2**256 - 1}", f"/{CHAIN}:{CONTRACT}/{2**256 - 1}", f"/{CHAIN}:0x{'C0' * 20}/{2**256 - 1}"):
        shown = await browser.get(path)
        assert (shown.status_code, shown.content) == (200, data)
        assert shown.headers["content-type"] == "application/json"
        assert shown.headers["access-control-allow-origin"] == "*"
        assert shown.headers["cache-control"] == "public, max-age=300"
        again = await browser.get(path, headers={"If-None-Match": shown.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    head = await browser.head(f"/{2**256 - 1}")
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(data)), b"")


@pytest.mark.parametrize("status", BEFORE)
async def test_before_the_reveal_nothing_is_told_but_that_it_will_come(
    status: str, browser: httpx.AsyncClient, pinned: Any
) -> None:
    await pinned(7, choice="now", status=status, **BEFORE[status])
    shown = await browser.get("/7")
    assert shown.status_code == 200
    assert shown.json() == {"name": "Glisk #7", "description": metadata.TO_COME}
    assert shown.headers["cache-control"] == "no-cache"
    assert (await browser.get("/7", headers={"If-None-Match": shown.headers["etag"]})).status_code == 304
    assert (await browser.get("/7/prompt")).status_code == 404


async def test_where_nothing_is_revealed_a_pinned_token_is_shown(
    link: Link, objects: Objects, settings: Settings, pinned: Any
) -> None:
    data = await pinned(status="ready")
    async with visiting(link, objects, settings, reveals=False) as browser:
        assert (await browser.get("/7")).content == data


async def test_unknown_tokens_and_orphans_are_not_there(browser: httpx.AsyncClient, connection: Any) -> None:
    assert (await browser.get("/1")).status_code == 404
    await a_token_row(connection, 7, status="orphaned", finished_at=NOW)
    for path in ("/7", "/8", f"/{CHAIN}:{OTHER}/7", f"/1:{CONTRACT}/7", "/7/prompt"):
        refused = await browser.get(path)
        assert (refused.status_code, refused.headers["cache-control"]) == (404, "no-store")
        assert set(refused.json()) == {"code", "message", "remedy"}


@pytest.mark.parametrize(
    "path",
    [
        *("/-1", "/1.5", "/0x7", "/x", "/%00", "/٧", f"/{2**256}", f"/{'9' * 79}", "/7%0A", "/x/prompt"),
        *(
            f"/{CONTRACT}/7",
            "/1:0x12/7",
            f"/one:{CONTRACT}/7",
            f"/{CHAIN}:{CONTRACT}/seven",
            f"/{'9' * 30}:{CONTRACT}/7",
        ),
    ],
)
async def test_garbage_is_refused_with_a_remedy(path: str, browser: httpx.AsyncClient) -> None:
    refused = await browser.get(path)
    assert refused.status_code == 400
    assert "wanted" in refused.json()["remedy"]


async def test_of_several_collections_the_first_that_is_followed_is_meant(
    link: Link, objects: Objects, settings: Settings, connection: Any, pinned: Any
) -> None:
    data = await pinned(7, **REVEALED)
    await a_token_row(connection, 7, contract_address=OTHER)
    async with visiting(link, objects, settings) as browser:
        refused = await browser.get("/7")
        assert (refused.status_code, f"{CHAIN}:{CONTRACT}" in refused.json()["remedy"]) == (404, True)
        assert (await browser.get(f"/{CHAIN}:{CONTRACT}/7")).content == data
    for contracts in (CONTRACT, f"{CHAIN}:{CONTRACT},{OTHER}"):
        followed = settings.model_copy(update={"contracts": contracts})
        async with visiting(link, objects, followed) as browser:
            assert (await browser.get("/7")).content == data


async def test_a_prompt_is_opened_when_its_author_says_so_and_closed_again(
    browser: httpx.AsyncClient, connection: Any, pinned: Any
) -> None:
    provenance = json.loads(await pinned(7, **REVEALED))["provenance"]
    assert (await browser.get("/7/prompt")).status_code == 404
    await connection.execute("UPDATE authors SET prompt_disclosure = 'now'")
    for path in ("/7/prompt", f"/{CHAIN}:{CONTRACT}/7/prompt"):
        opened = (await browser.get(path)).json()
        assert (opened["prompt"], opened["commitment"]) == ("A fox", provenance["prompt_commitment"])
        commitment, salt = (bytes.fromhex(opened[name][2:]) for name in ("commitment", "salt"))
        assert opens(commitment, salt, "A fox")
    await connection.execute("UPDATE authors SET prompt_disclosure = 'never'")
    assert (await browser.get("/7/prompt")).status_code == 404


async def test_a_prompt_that_was_never_to_be_told_stays_closed(
    browser: httpx.AsyncClient, connection: Any, pinned: Any
) -> None:
    await pinned(7, choice="never", **REVEALED)
    await connection.execute("UPDATE authors SET prompt_disclosure = 'now'")
    closed = await browser.get("/7/prompt")
    assert (closed.status_code, "salt" in closed.json()["message"]) == (404, True)


async def test_metadata_that_is_lost_is_told_as_such(browser: httpx.AsyncClient, connection: Any) -> None:
    cid = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
    await a_token_row(connection, 7, **PINNED | REVEALED | {"metadata_cid": cid})
    lost = await browser.get("/7")
    assert (lost.status_code, lost.json()["code"]) == (404, "GLK-407")


async def test_without_a_database_it_says_so(objects: Objects, settings: Settings) -> None:
    gone = Link("postgresql://glisk@127.0.0.1:1/x")
    async with visiting(gone, objects, settings) as browser:
        refused = await browser.get("/7")
        assert (refused.status_code, refused.json()["code"]) == (503, "GLK-701")
