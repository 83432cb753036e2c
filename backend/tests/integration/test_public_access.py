"""What the world sees of pictures, over real HTTP: nothing before the reveal, and no cache that tells."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from glisk.hosting import Home, application
from glisk.repositories.public_board import PublicBoard
from glisk.storage.ipfs.blocks import Blocks
from glisk.storage.ipfs.unixfs import Profile, dag
from glisk.storage.objects import Objects
from tests.builders import MANY_TOKENS, a_token_row
from tests.reading import rows_read
from tests.serving import served
from tests.visiting import Visit, visiting

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PICTURE, METADATA, OLD = (
    b"RIFF\x10\x00\x00\x00WEBP a picture of some length",
    b'{"name":"Seven"}',
    b"one that was replaced",
)
TREE, DOCUMENT, REPLACED = (dag(data, Profile(chunk=20, width=4)) for data in (PICTURE, METADATA, OLD))
PINS = "INSERT INTO pins (cid, pinner, item_id, object_key, label) VALUES ($1, 'local', $2, $3, 'x')"
SHOWN = """
    UPDATE tokens_s0 SET status = 'revealed', finished_at = now(), image_url = 'https://a.example/x', image_key = 'x/' || id, image_sha256 = decode(repeat('00', 32), 'hex'),
      image_mime = 'image/webp', image_cid = 'bafyx' || id, metadata_cid = 'bafym' || id, token_uri = 'ipfs://x'
    WHERE status = 'detected'"""
LEASE: dict[str, Any] = {"leased_by": "w", "leased_until": NOW}
HIDDEN: dict[str, dict[str, Any]] = {
    "uploading": {},
    "pinning": LEASE,
    "ready": {},
    "revealing": LEASE,
    "failed": {"finished_at": NOW, "generation_error": "no"},
    "review": {"finished_at": NOW, "generation_error": "it is nearly blank"},
    "orphaned": {"finished_at": NOW},
}
REVEALED: dict[str, Any] = {"status": "revealed", "finished_at": NOW, "token_uri": f"ipfs://{DOCUMENT.root}"}


@pytest.fixture
async def visit(database_url: str) -> AsyncIterator[Visit]:
    async with visiting(database_url, reveal="on") as visit:
        yield visit


async def a_picture(visit: Visit, connection: Any, token_id: int = 7, **columns: Any) -> list[str]:
    """Its addresses: the object, and the files on IPFS in every format."""
    key = (await Objects.of(visit.settings).put(PICTURE, "image/webp", "webp")).key
    for tree in (TREE, DOCUMENT, REPLACED):
        await Blocks.of(visit.settings).put(tree)
    facts = {
        "image_url": "https://a.example/x",
        "image_key": key,
        "image_sha256": bytes(32),
        "image_mime": "image/webp",
    }
    cids = {"image_cid": TREE.root, "metadata_cid": DOCUMENT.root}
    id = await a_token_row(connection, token_id, **facts | cids | columns)
    for cid, of in ((TREE.root, key), (DOCUMENT.root, "a/b.json")):
        await connection.execute(f"{PINS} ON CONFLICT DO NOTHING", cid, id, of)
    files = [
        f"/ipfs/{cid}{format}" for cid in (TREE.root, DOCUMENT.root) for format in ("", "?format=raw", "?format=car")
    ]
    return [f"/objects/{key}", *files]


@pytest.mark.parametrize("status", HIDDEN)
async def test_before_the_reveal_only_the_operator_sees_a_picture(status: str, visit: Visit, connection: Any) -> None:
    for address in await a_picture(visit, connection, status=status, **HIDDEN[status]):
        for answer in (await visit.public.get(address), await visit.public.head(address)):
            assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")
        shown = await visit.operator.get(address)
        assert (shown.status_code, shown.headers["cache-control"]) == (200, "private, max-age=300")
        known = await visit.operator.get(address, headers={"If-None-Match": shown.headers["etag"]})
        assert (known.status_code, known.headers["cache-control"]) == (304, "private, max-age=300")


async def test_what_is_hidden_looks_like_what_is_not_there(visit: Visit, connection: Any) -> None:
    (picture, *_) = await a_picture(visit, connection, status="ready")
    absent = f"/objects/sha256/ab/{'ab' * 32}.webp"
    hidden, missing = [(await visit.public.get(address)) for address in (picture, absent)]
    assert hidden.content == missing.content


async def test_after_the_reveal_everybody_does_and_may_keep_it(visit: Visit, connection: Any) -> None:
    for address in await a_picture(visit, connection, **REVEALED):
        for browser in (visit.public, visit.operator):
            shown = await browser.get(address)
            assert shown.status_code == 200
            assert shown.headers["cache-control"].startswith("public, ")


async def test_a_picture_of_two_tokens_is_public_when_one_of_them_is(visit: Visit, connection: Any) -> None:
    await a_picture(visit, connection, 7, status="ready")
    (picture, *files) = await a_picture(visit, connection, 8, **REVEALED)
    assert (await visit.public.get(picture)).status_code == 200
    assert (await visit.public.get(files[0])).status_code == 200


async def test_a_picture_that_was_replaced_before_the_reveal_stays_hidden(visit: Visit, connection: Any) -> None:
    await a_picture(visit, connection, **REVEALED)
    await connection.execute(PINS, REPLACED.root, await connection.fetchval("SELECT id FROM tokens_s0"), "old/one.webp")
    assert (await visit.public.get(f"/ipfs/{REPLACED.root}")).status_code == 404
    assert (await visit.operator.get(f"/ipfs/{REPLACED.root}")).status_code == 200


async def test_whose_picture_it_is_is_found_at_once_among_many(visit: Visit, connection: Any) -> None:
    """Though the planner may think that hardly any token is revealed."""
    await connection.execute(MANY_TOKENS, 20_000, ["detected"], 0)
    (picture, *files) = await a_picture(visit, connection, 30_000, status="ready")
    await connection.execute("ANALYZE tokens_s0, pins")
    await connection.execute(SHOWN)
    key, cid = picture.removeprefix("/objects/"), files[0].removeprefix("/ipfs/")
    for asked in (
        lambda one: PublicBoard(one).has_object(key, ["revealed"]),
        lambda one: PublicBoard(one).has_cid(cid, ["revealed"]),
    ):
        found, rows = await rows_read(visit.link, "tokens_s0", asked)
        assert (found, rows < 10) == (False, True)


async def test_where_nothing_is_revealed_a_pinned_picture_is_public(database_url: str, connection: Any) -> None:
    async with visiting(database_url, reveal="off") as visit:
        for address in await a_picture(visit, connection, status="ready"):
            assert (await visit.public.get(address)).status_code == 200


async def test_a_key_that_is_not_the_operators_shows_no_more(visit: Visit, connection: Any) -> None:
    (picture, *_) = await a_picture(visit, connection, status="ready")
    for key in (await visit.key("user"), "glk_nonsense"):
        asked = await visit.public.get(picture, headers={"Authorization": f"Bearer {key}"})
        assert asked.status_code == 404


@pytest.mark.parametrize(
    "address", ["/ipfs/nonsense", f"/ipfs/{TREE.root}", f"/ipfs/{TREE.root}?format=tar", "/metadata/x"]
)
async def test_pages_of_other_sites_may_read_why_something_is_not_shown(address: str, visit: Visit) -> None:
    refused = await visit.public.get(address)
    assert refused.status_code in (400, 404)
    assert refused.headers["access-control-allow-origin"] == "*"
    assert set(refused.json()) == {"code", "message", "remedy"}


async def test_what_is_not_there_and_what_is_not_understood_is_told_like_any_error(visit: Visit) -> None:
    missing, wrong = await visit.public.get("/nothing/here"), await visit.public.put("/health")
    assert (missing.status_code, missing.json()["code"]) == (404, "GLK-807")
    assert (wrong.status_code, wrong.json()["code"], wrong.headers["allow"]) == (405, "GLK-806", "GET")


async def test_without_a_database_nothing_is_shown_by_mistake(database_url: str, connection: Any) -> None:
    async with visiting(database_url) as visit:
        (picture, *_) = await a_picture(visit, connection, status="ready")
    home = Home(visit.settings, visit.settings, "postgresql://nobody@127.0.0.1:1/nothing")
    async with application(home) as app, served(app) as address, httpx.AsyncClient(base_url=address) as browser:
        assert (await browser.get(picture)).status_code == 503
