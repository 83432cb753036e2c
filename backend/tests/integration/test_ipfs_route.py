"""GET /ipfs/{cid} over real HTTP, from a directory and from a bucket of a real S3 server."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import obstore
import pytest
from structlog.testing import capture_logs

from glisk.api import ipfs
from glisk.api.app import create_app
from glisk.settings import Settings
from glisk.storage.ipfs import car
from glisk.storage.ipfs.blocks import Blocks, key
from glisk.storage.ipfs.cid import RAW, of, parse
from glisk.storage.ipfs.port import Dag
from glisk.storage.ipfs.unixfs import Profile, dag
from glisk.storage.objects import Objects
from tests.blocks import blocks, endpoint, settings
from tests.s3 import settings_for
from tests.serving import served

__all__ = ["blocks", "endpoint", "settings"]  # fixtures

DATA = b"RIFF\x10\x00\x00\x00WEBP a picture of some length"
TREE = dag(DATA, Profile(chunk=10, width=2))  # four leaves below two nodes below the root
ABSENT = str(of(RAW, b"nobody has put this"))


@pytest.fixture
async def browser(settings: Settings, blocks: Blocks) -> AsyncIterator[httpx.AsyncClient]:
    await blocks.put(TREE)
    async with visiting(settings) as browser:
        yield browser


@asynccontextmanager
async def visiting(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(Objects.of(settings), ipfs.router(Blocks.of(settings)))
    async with served(app) as url, httpx.AsyncClient(base_url=f"{url}/ipfs/") as browser:
        yield browser


async def test_a_file_is_shown_for_ever_safely_and_to_everybody(browser: httpx.AsyncClient) -> None:
    shown = await browser.get(TREE.root)
    assert (shown.status_code, shown.content) == (200, DATA)
    expected = {
        "content-type": "image/webp",
        "content-length": str(len(DATA)),
        "etag": f'"{TREE.root}"',
        "cache-control": "public, max-age=29030400, immutable",
        "accept-ranges": "bytes",
        "x-ipfs-path": f"/ipfs/{TREE.root}",
        "x-ipfs-roots": TREE.root,
        "access-control-allow-origin": "*",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
    }
    assert {name: shown.headers[name] for name in expected} == expected


async def test_a_head_tells_the_same_without_the_bytes(browser: httpx.AsyncClient) -> None:
    for format in ("", "?format=raw", "?format=car"):
        shown, told = await browser.get(TREE.root + format), await browser.head(TREE.root + format)
        assert (told.status_code, told.content) == (200, b"")
        assert {**told.headers, "date": ""} == {**shown.headers, "date": ""}


@pytest.mark.parametrize("size", [0, 300_000, 1_048_577, 5_000_000])
async def test_a_file_of_any_size_goes_through(size: int, blocks: Blocks, browser: httpx.AsyncClient) -> None:
    data = random.randbytes(size)
    whole = dag(data)
    await blocks.put(whole)
    shown = await browser.get(whole.root)
    assert (shown.status_code, shown.content, shown.headers["content-length"]) == (200, data, str(size))


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n and more", "image/png"),
        (b"\xff\xd8\xff and more", "image/jpeg"),
        (b'{"name": "A token"}', "application/json"),
        (b"\n [1]", "application/json"),
        (b"<script>alert(1)</script>", "application/octet-stream"),
        (b"<svg onload='alert(1)'/>", "application/octet-stream"),
        (b"plain words", "application/octet-stream"),
        (b"", "application/octet-stream"),
    ],
)
async def test_what_a_file_is_is_told_by_its_first_bytes(data: bytes, mime: str, tmp_path: Path) -> None:
    settings, whole = Settings(data_dir=tmp_path), dag(data)
    await Blocks.of(settings).put(whole)
    async with visiting(settings) as browser:
        assert (await browser.get(whole.root)).headers["content-type"] == mime


@pytest.mark.parametrize("format", ["", "raw", "car"])
async def test_whoever_has_it_is_not_sent_it_again(format: str, browser: httpx.AsyncClient) -> None:
    tag = f"{TREE.root}.{format}".rstrip(".")
    path = f"{TREE.root}?format={format}" if format else TREE.root
    for known in (f'"{tag}"', f'W/"{tag}"', f'"other", "{tag}"', "*"):
        again = await browser.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", f'"{tag}"')


async def test_whoever_has_the_block_does_not_have_the_file(browser: httpx.AsyncClient) -> None:
    assert (await browser.get(TREE.root, headers={"If-None-Match": f'"{TREE.root}.raw"'})).content == DATA


@pytest.mark.parametrize(("asked", "start", "stop"), [("0-0", 0, 1), ("6-15", 6, 16), ("-5", 32, 37), ("20-", 20, 37)])
async def test_a_part_is_sent_to_whoever_asks_for_it(
    asked: str, start: int, stop: int, browser: httpx.AsyncClient
) -> None:
    part = await browser.get(TREE.root, headers={"Range": f"bytes={asked}"})
    assert (part.status_code, part.content) == (206, DATA[start:stop])
    assert part.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(DATA)}"
    assert part.headers["content-type"] == "image/webp"


async def test_a_part_beyond_the_end_is_refused_with_the_size(browser: httpx.AsyncClient) -> None:
    refused = await browser.get(TREE.root, headers={"Range": "bytes=99-"})
    assert (refused.status_code, refused.headers["content-range"]) == (416, f"bytes */{len(DATA)}")


@pytest.mark.parametrize("by_header", [False, True])
@pytest.mark.parametrize("kind", ["raw", "car"])
async def test_whoever_checks_the_hashes_gets_the_block_or_the_car(
    kind: str, by_header: bool, browser: httpx.AsyncClient
) -> None:
    path = TREE.root if by_header else f"{TREE.root}?format={kind}"
    accepted = f"application/vnd.ipld.{kind}, */*;q=0.1" if by_header else "*/*"
    shown = await browser.get(path, headers={"Accept": accepted})
    assert shown.headers["content-type"].partition(";")[0] == f"application/vnd.ipld.{kind}"
    assert shown.headers["content-disposition"] == f'attachment; filename="{TREE.root}.{kind}"'
    assert (shown.headers["etag"], shown.headers["vary"]) == (f'"{TREE.root}.{kind}"', "Accept")
    if kind == "raw":
        assert shown.content == TREE.blocks[-1].data
    else:
        roots, found = car.read(shown.content)
        assert roots == [TREE.root]
        assert {block.cid for block in found} == {block.cid for block in TREE.blocks}


async def test_every_block_can_be_had_alone(browser: httpx.AsyncClient) -> None:
    for block in TREE.blocks:
        assert (await browser.get(block.cid, params={"format": "raw"})).content == block.data


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_absent_content_is_a_404_that_nobody_keeps(method: str, browser: httpx.AsyncClient) -> None:
    for format in ("", "?format=raw", "?format=car"):
        absent = await browser.request(method, ABSENT + format)
        assert (absent.status_code, absent.headers["cache-control"]) == (404, "no-store")
        assert method == "HEAD" or absent.json()["code"] == "GLK-507"


@pytest.mark.parametrize("cid", ["", "x", "Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD", "%2e%2e%2fobjects", "x/y"])
async def test_what_is_no_cid_is_a_400_that_says_what_is_wanted(cid: str, browser: httpx.AsyncClient) -> None:
    refused = await browser.get(cid)
    assert (refused.status_code, refused.json()["code"]) == (400, "GLK-506")
    assert "version 1 in base32" in refused.json()["remedy"]


@pytest.mark.parametrize("below", ["/", "/1.json", "//", "/../x"])
async def test_nothing_lies_below_a_file_and_nobody_is_sent_elsewhere(below: str, browser: httpx.AsyncClient) -> None:
    assert (await browser.get(f"{TREE.root}{below.replace('..', '%2e%2e')}")).status_code == 404


async def test_a_format_that_we_do_not_have_is_refused(browser: httpx.AsyncClient) -> None:
    assert (await browser.get(TREE.root, params={"format": "tar"})).status_code == 400


async def test_nothing_can_be_changed_here(browser: httpx.AsyncClient) -> None:
    for method in ("PUT", "POST", "DELETE", "PATCH"):
        assert (await browser.request(method, TREE.root)).status_code == 405


async def damage(blocks: Blocks, whole: Dag, number: int) -> None:
    await obstore.put_async(blocks.objects.place.store, key(parse(whole.blocks[number].cid)), b"damaged")


@pytest.mark.parametrize("number", [0, -1])
async def test_damage_at_the_start_is_told_by_the_status(
    number: int, blocks: Blocks, browser: httpx.AsyncClient
) -> None:
    await damage(blocks, TREE, number)
    damaged = await browser.get(TREE.root)
    assert (damaged.status_code, damaged.json()["code"]) == (500, "GLK-406")


@pytest.mark.parametrize("format", ["", "?format=car"])
async def test_damage_further_on_cuts_the_answer_short(format: str, blocks: Blocks, browser: httpx.AsyncClient) -> None:
    whole = dag(random.randbytes(1000), Profile(chunk=100, width=20))
    await blocks.put(whole)
    await damage(blocks, whole, 5)
    with pytest.raises(httpx.RemoteProtocolError):
        await browser.get(whole.root + format)


async def test_a_storage_in_trouble_is_a_503_that_names_no_server_of_ours() -> None:
    with capture_logs() as lines:
        async with visiting(settings_for("http://127.0.0.1:1")) as browser:
            refused = await browser.get(ABSENT)
    assert (refused.status_code, refused.json()["code"]) == (503, "GLK-401")
    assert "127.0.0.1:1" not in refused.text
    assert "127.0.0.1:1" in lines[0]["error"]


async def test_the_api_describes_it(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    described = create_app(Objects.of(settings), ipfs.router(Blocks.of(settings))).openapi()["paths"]["/ipfs/{cid}"]
    assert set(described) == {"get"}
    assert {"200", "206", "304", "400", "404", "416", "503"} <= set(described["get"]["responses"])
