"""GET /tokens… over real HTTP: pages that stay in order, and to whom what is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.api.tokens import cursor_of, id_in
from glisk.engine.link import Link
from glisk.errors import BadQuery
from glisk.repositories.token_pages import Listed, TokenPages, Wanted
from tests.builders import CHAIN, CONTRACT, MANY_TOKENS, PINNED, a_token_row
from tests.reading import rows_read
from tests.visiting import Visit, visiting

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OTHER = "0x" + "d1" * 20
AUTHOR = "0x" + "ab" * 20
COLLECTION = f"{CHAIN}:{CONTRACT}"
REVEALED: dict[str, Any] = PINNED | {
    "status": "revealed",
    "finished_at": NOW,
    "token_uri": "ipfs://bafymetadata",
    "reveal_tx": bytes(32),
    "prompt": "A secret fox",
}
MINT: dict[str, Any] = {
    "minter": AUTHOR,
    "mint_block": 2**60,
    "mint_block_hash": bytes(32),
    "mint_tx": bytes(32),
    "mint_log": 3,
}
TRIED = """
    INSERT INTO attempts (item_id, step, epoch, provider, prompt, outcome, error, cost, worker, finished_at)
    VALUES ($1, 'generating', 1, 'replicate', 'A secret fox', 'failed', 'our server burns', 0.0031, 'worker-7', now())"""
BORN = "INSERT INTO events (item_id, workflow, to_status, epoch, actor) VALUES ($1, 'token', 'detected', 0, 'listener')"


@pytest.fixture
async def visit(database_url: str) -> AsyncIterator[Visit]:
    async with visiting(database_url, reveal="on") as visit:
        yield visit


async def every_page(browser: httpx.AsyncClient, **query: Any) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        terms = query | ({"cursor": cursor} if cursor else {})
        page = (await browser.get("/tokens", params=terms)).raise_for_status().json()
        pages.append([token["token_id"] for token in page["tokens"]])
        if (cursor := page["next"]) is None:
            return pages


async def test_pages_follow_each_other_whatever_is_minted_meanwhile(visit: Visit, connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 7, ["detected", "failed"], 0)
    first = (await visit.public.get("/tokens?limit=3")).json()
    assert [token["token_id"] for token in first["tokens"]] == ["7", "6", "5"]
    await a_token_row(connection, 8)
    second = (await visit.public.get("/tokens", params={"limit": 3, "cursor": first["next"]})).json()
    assert [token["token_id"] for token in second["tokens"]] == ["4", "3", "2"]
    assert await every_page(visit.public, limit=4) == [["8", "7", "6", "5"], ["4", "3", "2", "1"]]
    assert await every_page(visit.public, limit=2, status="failed") == [["7", "5"], ["3", "1"]]


async def test_an_empty_list_is_a_page_too(visit: Visit) -> None:
    assert (await visit.public.get("/tokens")).json() == {"tokens": [], "next": None}


async def test_tokens_are_found_by_their_author_and_their_collection(visit: Visit, connection: Any) -> None:
    await a_token_row(connection, 1)
    await a_token_row(connection, 2, contract_address=OTHER)
    assert await every_page(visit.public, author=AUTHOR.upper().replace("X", "x")) == [["2", "1"]]
    assert await every_page(visit.public, author=OTHER) == [[]]
    assert await every_page(visit.public, contract=COLLECTION) == [["1"]]
    assert await every_page(visit.public, contract=f"{CHAIN}:{OTHER}", status="detected", author=AUTHOR) == [["2"]]


async def test_numbers_are_strings_and_times_are_in_utc(visit: Visit, connection: Any) -> None:
    await a_token_row(connection, 2**255, **REVEALED | MINT)
    token = (await visit.public.get(f"/tokens/{2**255}")).json()
    assert (token["token_id"], token["collection"], token["author"]) == (str(2**255), COLLECTION, AUTHOR)
    zeros = "0x" + "00" * 32
    assert token["mint"] == {"block": str(2**60), "tx": zeros, "log": 3, "minter": AUTHOR}
    assert datetime.fromisoformat(token["minted_at"]).utcoffset() == NOW.utcoffset()
    assert token["minted_at"].endswith("Z")
    assert (token["reveal_tx"], token["token_uri"]) == (zeros, "ipfs://bafymetadata")
    assert token["picture"] == {
        "url": "/objects/ab/cd.png",
        "mime": "image/png",
        "image_cid": "bafyimage",
        "metadata_cid": "bafymetadata",
        "metadata_url": f"/metadata/{COLLECTION}/{2**255}",
    }


@pytest.mark.parametrize("status", ["ready", "review", "failed"])
async def test_before_the_reveal_the_world_sees_no_picture_prompt_or_error(
    status: str, visit: Visit, connection: Any
) -> None:
    ended = {} if status == "ready" else {"finished_at": NOW, "generation_error": "GLK-302 a secret refusal"}
    id = await a_token_row(connection, 7, **PINNED | {"prompt": "A secret fox", "status": status} | ended)
    await connection.execute(BORN, id)
    await connection.execute(TRIED, id)
    for path in ("/tokens/7", "/tokens", "/tokens/7/timeline"):
        body = (await visit.public.get(path)).raise_for_status().text
        for hidden in ("secret", "bafy", "cd.png", "burns", "worker-7", "0.0031", "replicate"):
            assert hidden not in body
    inside = (await visit.operator.get("/tokens/7")).json()
    assert (inside["inside"]["prompt"], inside["picture"]["image_cid"]) == ("A secret fox", "bafyimage")


async def test_a_prompt_is_the_operators_even_after_the_reveal(visit: Visit, connection: Any) -> None:
    await a_token_row(connection, 7, **REVEALED)
    assert "secret" not in (await visit.public.get("/tokens/7")).text
    assert (await visit.operator.get("/tokens/7")).json()["inside"]["prompt"] == "A secret fox"


async def test_the_timeline_has_every_attempt_and_the_operator_sees_all_of_it(visit: Visit, connection: Any) -> None:
    id = await a_token_row(connection, 7, **REVEALED)
    await connection.execute(BORN, id)
    await connection.execute(TRIED, id)
    world, whole = [(await browser.get("/tokens/7/timeline")).json() for browser in (visit.public, visit.operator)]
    assert [entry["step"] for entry in world["entries"]] == [entry["step"] for entry in whole["entries"]]
    assert "minted" in [entry["step"] for entry in world["entries"]]
    (tried,) = (entry for entry in whole["entries"] if entry["step"] == "generating")
    assert (tried["text"], tried["worker"], Decimal(tried["cost"])) == (
        "our server burns",
        "worker-7",
        Decimal("0.0031"),
    )
    (seen,) = (entry for entry in world["entries"] if entry["step"] == "generating")
    assert (seen["verdict"], seen["text"], seen["worker"], seen["cost"]) == ("failed", None, None, None)
    assert (world["cost"], Decimal(whole["cost"])) == (None, Decimal("0.0031"))


async def test_a_mint_that_left_the_chain_is_there_for_the_operator_alone(visit: Visit, connection: Any) -> None:
    await a_token_row(connection, 7, status="orphaned", finished_at=NOW)
    assert (await visit.public.get("/tokens/7")).status_code == 404
    assert await every_page(visit.public) == await every_page(visit.public, status="orphaned") == [[]]
    assert (await visit.operator.get("/tokens/7")).json()["status"] == "orphaned"
    assert await every_page(visit.operator) == [["7"]]


async def test_where_there_are_several_collections_one_is_named(visit: Visit, connection: Any) -> None:
    await a_token_row(connection, 7)
    await a_token_row(connection, 7, contract_address=OTHER, status="failed", finished_at=NOW, generation_error="no")
    unclear = await visit.public.get("/tokens/7")
    assert (unclear.status_code, COLLECTION in unclear.json()["remedy"]) == (404, True)
    for contract, status in ((CONTRACT, "detected"), (OTHER, "failed")):
        found = await visit.public.get("/tokens/7", params={"contract": f"{CHAIN}:{contract}"})
        assert found.json()["status"] == status


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/tokens?status=nonsense", "status"),
        ("/tokens?author=0x12", "author"),
        (f"/tokens?author=1:{AUTHOR}", "author"),
        ("/tokens?contract=0x12", "contract"),
        (f"/tokens?contract={CONTRACT}", "contract"),
        ("/tokens?cursor=nonsense", "cursor"),
        ("/tokens?cursor=LTE", "cursor"),
        ("/tokens?limit=0", "limit"),
        ("/tokens?limit=201", "limit"),
        ("/tokens?limit=many", "limit"),
        ("/tokens/-1", "token_id"),
        (f"/tokens/{2**256}", "token_id"),
        ("/tokens/7/timeline?contract=x", "contract"),
    ],
)
async def test_what_cannot_be_asked_is_refused_by_its_name(path: str, field: str, visit: Visit) -> None:
    refused = await visit.public.get(path)
    assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806")
    assert f" {field}: " in refused.json()["message"]


@pytest.mark.parametrize(
    ("path", "told", "remedy"),
    [
        ("/tokens?page=2", "page: there is no such parameter.", "status, author, contract, cursor, limit"),
        ("/tokens/7?limit=2", "limit: there is no such parameter.", "contract"),
        ("/events?since=1", "since: there is no such parameter.", "after, token, contract"),
        (f"/authors/{AUTHOR}?x=1", "x: there is no such parameter.", "It takes none."),
        ("/tokens?limit=many", "limit: a whole number is wanted.", "/docs"),
        ("/tokens?limit=0", "limit: 1 or more is wanted.", "/docs"),
        ("/tokens?limit=1000", "limit: 200 or less is wanted.", "/docs"),
    ],
)
async def test_what_is_not_known_is_refused_with_what_is(path: str, told: str, remedy: str, visit: Visit) -> None:
    refused = await visit.public.get(path)
    assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806")
    assert refused.json()["message"].endswith(f" {told}")
    assert remedy in refused.json()["remedy"]


async def test_what_has_no_value_is_not_asked_for(visit: Visit) -> None:
    answer = await visit.public.get("/tokens?status=&cursor=&author=&contract=&limit=")
    assert (answer.status_code, answer.json()) == (200, {"tokens": [], "next": None})


@pytest.mark.parametrize("path", ["/tokens/7", "/tokens/7/timeline"])
async def test_a_token_that_is_not_there_is_told_as_such(path: str, visit: Visit) -> None:
    missing = await visit.public.get(path)
    assert (missing.status_code, missing.json()["code"]) == (404, "GLK-805")


async def test_what_one_sees_is_kept_for_no_other(visit: Visit) -> None:
    assert (await visit.operator.get("/tokens")).headers["cache-control"] == "private, no-cache"


async def test_it_is_described_for_programs(visit: Visit) -> None:
    described = (await visit.public.get("/openapi.json")).json()
    for path in ("/tokens", "/tokens/{token_id}", "/tokens/{token_id}/timeline", "/events"):
        answers = described["paths"][path]["get"]["responses"]
        assert answers["400"]["content"]["application/json"]["schema"]["$ref"].endswith("/Problem")
    assert described["components"]["schemas"]["Token"]["example"]["token_id"] == "17"


async def test_a_long_list_is_read_along_an_index(link: Link, connection: Any) -> None:
    """Not more rows than a page has, whichever way it is asked for."""
    await connection.execute(MANY_TOKENS, 20_000, ["detected", "failed"], 0)
    await connection.execute("ANALYZE")
    await an_author_without_tokens(connection)
    for wanted, many in (
        (Wanted(50), 50),
        (Wanted(50, status="failed"), 50),
        (Wanted(50, author=AUTHOR), 50),
        (Wanted(50, status="failed", below=5000), 50),
        (Wanted(50, status="failed", author=OTHER), 0),
        (Wanted(50, status="ready"), 0),
    ):
        found, rows = await rows_read(link, "tokens_s0", partial(page_of, wanted))
        assert (len(found), rows < 1000) == (many, True), wanted


async def page_of(wanted: Wanted, link: Link) -> list[Listed]:
    return await TokenPages(link).page(wanted)


async def an_author_without_tokens(connection: Any) -> None:
    await connection.execute("INSERT INTO authors (wallet_address) VALUES ($1)", OTHER)


@given(st.integers(min_value=0, max_value=2**63 - 1))
def test_a_cursor_leads_back_to_its_place(id: int) -> None:
    assert id_in(cursor_of(id)) == id


@given(st.text(max_size=30))
def test_no_text_breaks_a_cursor(text: str) -> None:
    with suppress(BadQuery):
        assert cursor_of(id_in(text)) == text
