"""GET /objects/{key} over real HTTP, from a directory and from a bucket of a real S3 server."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import obstore
import pytest
from structlog.testing import capture_logs

from glisk.api.app import create_app
from glisk.settings import Settings
from glisk.storage.objects import Objects
from tests.s3 import serving, settings_for
from tests.serving import served

DATA = b"an image of some length"
ABSENT = f"/objects/sha256/ab/{'ab' * 32}.webp"


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("s3")) as url:
        yield url


@pytest.fixture(params=["directory", "bucket"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    if request.param == "directory":
        return Objects.of(Settings(data_dir=tmp_path))
    return Objects.of(settings_for(request.getfixturevalue("endpoint"), s3_prefix=tmp_path.name))


@pytest.fixture
async def browser(objects: Objects) -> AsyncIterator[httpx.AsyncClient]:
    async with visiting(objects) as browser:
        yield browser


@pytest.fixture
async def path(objects: Objects) -> str:
    return f"/objects/{(await objects.put(DATA, 'image/webp', 'webp')).key}"


@asynccontextmanager
async def visiting(objects: Objects) -> AsyncIterator[httpx.AsyncClient]:
    async with served(create_app(objects)) as url, httpx.AsyncClient(base_url=url) as browser:
        yield browser


async def test_an_object_is_shown_for_ever_and_safely(browser: httpx.AsyncClient, path: str) -> None:
    shown = await browser.get(path)
    assert (shown.status_code, shown.content) == (200, DATA)
    sha256 = path[-69:-5]
    expected = {
        "content-type": "image/webp",
        "content-length": str(len(DATA)),
        "etag": f'"{sha256}"',
        "cache-control": "public, max-age=31536000, immutable",
        "accept-ranges": "bytes",
        "content-disposition": f'inline; filename="{sha256}.webp"',
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
    }
    assert {name: shown.headers[name] for name in expected} == expected


async def test_a_head_tells_the_same_without_the_bytes(browser: httpx.AsyncClient, path: str) -> None:
    shown, told = await browser.get(path), await browser.head(path)
    assert (told.status_code, told.content) == (200, b"")
    assert {**told.headers, "date": ""} == {**shown.headers, "date": ""}


@pytest.mark.parametrize("known", ['"{}"', 'W/"{}"', '"other", "{}"', "*"])
async def test_whoever_has_it_is_not_sent_it_again(known: str, browser: httpx.AsyncClient, path: str) -> None:
    again = await browser.get(path, headers={"If-None-Match": known.format(path[-69:-5])})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == f'"{path[-69:-5]}"'
    assert "immutable" in again.headers["cache-control"]


async def test_whoever_has_another_is_sent_it(browser: httpx.AsyncClient, path: str) -> None:
    assert (await browser.get(path, headers={"If-None-Match": '"other"'})).content == DATA


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [("0-0", 0, 1), ("3-7", 3, 8), ("3-", 3, 23), ("-5", 18, 23), ("-99", 0, 23), ("20-999", 20, 23), ("0-22", 0, 23)],
)
async def test_a_part_is_sent_to_whoever_asks_for_it(
    asked: str, start: int, stop: int, browser: httpx.AsyncClient, path: str
) -> None:
    part = await browser.get(path, headers={"Range": f"bytes={asked}"})
    assert (part.status_code, part.content) == (206, DATA[start:stop])
    assert part.headers["content-range"] == f"bytes {start}-{stop - 1}/23"
    assert part.headers["content-length"] == str(stop - start)


@pytest.mark.parametrize("asked", ["23-", "99-100", "-0", "999999999999999999-"])
async def test_a_part_beyond_the_end_is_refused_with_the_size(
    asked: str, browser: httpx.AsyncClient, path: str
) -> None:
    refused = await browser.get(path, headers={"Range": f"bytes={asked}"})
    assert (refused.status_code, refused.content) == (416, b"")
    assert refused.headers["content-range"] == "bytes */23"


@pytest.mark.parametrize("asked", ["bytes=5-3", "bytes=-", "bytes=0-1,3-4", "lines=1-2", "x", f"bytes={'9' * 5000}-"])
async def test_what_is_no_single_part_gets_the_whole(asked: str, browser: httpx.AsyncClient, path: str) -> None:
    whole = await browser.get(path, headers={"Range": asked})
    assert (whole.status_code, whole.content) == (200, DATA)


async def test_a_download_goes_on_only_with_the_same_object(browser: httpx.AsyncClient, path: str) -> None:
    same = await browser.get(path, headers={"Range": "bytes=3-", "If-Range": f'"{path[-69:-5]}"'})
    other = await browser.get(path, headers={"Range": "bytes=3-", "If-Range": '"other"'})
    assert (same.status_code, other.status_code) == (206, 200)


async def test_a_large_object_goes_through_whole_and_in_parts(objects: Objects, browser: httpx.AsyncClient) -> None:
    data = random.randbytes(20_000_000)
    path = f"/objects/{(await objects.put(data, 'image/png', 'png')).key}"
    assert (await browser.get(path)).content == data
    part = await browser.get(path, headers={"Range": "bytes=10000000-19999998"})
    assert part.content == data[10_000_000:19_999_999]


@pytest.mark.parametrize("extension", ["html", "svg", "js", "bin"])
async def test_what_a_browser_might_run_is_mere_bytes(
    extension: str, objects: Objects, browser: httpx.AsyncClient
) -> None:
    stored = await objects.put(b"<script>alert(1)</script>", "text/html", extension)
    assert (await browser.get(f"/objects/{stored.key}")).headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_an_absent_object_is_a_404_that_nobody_keeps(method: str, browser: httpx.AsyncClient) -> None:
    absent = await browser.request(method, ABSENT)
    assert (absent.status_code, absent.headers["cache-control"]) == (404, "no-store")
    assert method == "HEAD" or absent.json()["code"] == "GLK-407"


@pytest.mark.parametrize(
    "key",
    ["", "x", "%2e%2e/%2e%2e/etc/passwd", "sha256%2f..%2f..%2fmade-by-glisk", ABSENT[9:] + "%00"],
)
async def test_a_key_that_is_not_ours_is_a_404(key: str, browser: httpx.AsyncClient) -> None:
    refused = await browser.get(f"/objects/{key}")
    assert (refused.status_code, refused.json()["code"]) == (404, "GLK-408")


async def test_nothing_can_be_changed_here(browser: httpx.AsyncClient, path: str) -> None:
    for method in ("PUT", "POST", "DELETE", "PATCH"):
        assert (await browser.request(method, path)).status_code == 405


@pytest.mark.parametrize("leftover", [b"", b"an image of", b"\0" * len(DATA)], ids=len)
async def test_a_damaged_object_is_told_by_the_status(
    leftover: bytes, objects: Objects, browser: httpx.AsyncClient, path: str
) -> None:
    await obstore.put_async(objects.place.store, path.removeprefix("/objects/"), leftover)
    damaged = await browser.get(path)
    assert (damaged.status_code, damaged.json()["code"]) == (500, "GLK-406")
    assert damaged.headers["cache-control"] == "no-store"


async def test_damage_that_is_found_only_at_the_end_cuts_the_answer_short(
    objects: Objects, browser: httpx.AsyncClient
) -> None:
    data = random.randbytes(20_000_000)
    key = (await objects.put(data, "image/webp", "webp")).key
    await obstore.put_async(objects.place.store, key, data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(httpx.RemoteProtocolError):
        await browser.get(f"/objects/{key}")


async def test_a_storage_in_trouble_is_a_503_that_names_no_server_of_ours() -> None:
    with capture_logs() as lines:
        async with visiting(Objects.of(settings_for("http://127.0.0.1:1"))) as browser:
            refused = await browser.get(ABSENT)
    assert (refused.status_code, refused.json()["code"]) == (503, "GLK-401")
    assert "127.0.0.1:1" not in refused.text
    assert "127.0.0.1:1" in lines[0]["error"]


async def test_the_api_describes_it(objects: Objects) -> None:
    described = create_app(objects).openapi()["paths"]["/objects/{key}"]
    assert set(described) == {"get"}
    assert {"200", "206", "304", "404", "416", "503"} <= set(described["get"]["responses"])
