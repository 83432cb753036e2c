"""GET /live over real HTTP: each change written once, nothing missed, nobody waited for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from glisk.repositories.event_log import Position
from glisk.repositories.key_repository import KeyRepository
from glisk.web import live
from glisk.web.live import Piece, Viewer
from tests import workshop
from tests.web import House, opened


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    async with opened(database_url, tmp_path / "data") as house:
        yield house


@asynccontextmanager
async def watching(
    house: House, query: str = "of=wall", **headers: str
) -> AsyncIterator[AsyncIterator[dict[str, str]]]:
    """What comes, message by message: the first says only when to come back, so whoever has it is heard from then on."""
    async with (
        httpx.AsyncClient(base_url=house.address, timeout=30) as client,
        client.stream("GET", f"/live?{query}", headers=headers) as answer,
        aclosing(messages(answer)) as found,
    ):
        assert "retry" in await anext(found)
        yield found


async def messages(answer: httpx.Response) -> AsyncGenerator[dict[str, str], None]:
    said: dict[str, str] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(":")
        if not line and said:
            yield said
            said = {}
        elif line and name:
            said[name] = said.get(name, "") + value.strip()


async def the_next(found: AsyncIterator[dict[str, str]], event: str) -> str:
    async for said in found:
        if said.get("event") == event:
            return said["data"]
    raise AssertionError("it ended")


async def the_key(found: AsyncIterator[dict[str, str]]) -> str:
    async for said in found:
        if "id" in said:
            return said["id"]
    raise AssertionError("it ended")


async def test_a_mint_is_told_as_a_card_to_everybody_who_looks(house: House, connection: Any) -> None:
    async with watching(house) as one, watching(house) as other:
        await workshop.minted(connection, 17)
        cards = [await the_next(found, "card") for found in (one, other)]
    assert cards[0] == cards[1]
    assert "Glisk #17" in cards[0]


async def test_who_comes_back_gets_what_was_missed(house: House, connection: Any) -> None:
    async with watching(house) as found:
        await workshop.minted(connection, 1)
        key = await the_key(found)
    await workshop.minted(connection, 2)
    async with watching(house, **{"Last-Event-ID": key}) as found:
        assert "Glisk #2" in await the_next(found, "card")
    async with watching(house, f"of=wall&after={key}") as found:
        assert "Glisk #2" in await the_next(found, "card")


async def test_who_joins_others_gets_what_they_have_had_already(house: House, connection: Any) -> None:
    async with watching(house, "of=token&token=1") as other:
        key = str(Position(int(await connection.fetchval("SELECT pg_snapshot_xmin(pg_current_snapshot())::text")), 0))
        id = await workshop.minted(connection, 1)
        async with watching(house, f"of=token&token={id}&after={key}") as found:
            assert await the_next(found, "news") == ""
        async with watching(house, f"of=wall&after={key}") as found:
            assert await the_next(found, "behind") == "", "nobody looked at the wall then: it is to be looked at anew"
        assert other is not None


async def test_a_page_of_a_token_hears_of_that_token_alone(house: House, connection: Any) -> None:
    first = await workshop.minted(connection, 1)
    async with watching(house, f"of=token&token={first}") as found:
        await workshop.minted(connection, 2)
        await connection.execute(
            "INSERT INTO events (item_id, workflow, from_status, to_status, actor) VALUES ($1, 'token', 'detected', 'detected', 'x')",
            first,
        )
        assert await the_next(found, "news") == ""
        assert int((await the_key(found)).split("-")[1]) == 3, "the third event is the first it is told of"


async def test_a_storm_is_not_told_card_by_card(house: House, connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "CARDS_A_SECOND", 2)
    async with watching(house) as found:
        async with connection.transaction():
            for token_id in range(1, 6):
                await workshop.minted(connection, token_id)
        cards = [await the_next(found, "card"), await the_next(found, "card")]
        assert await the_next(found, "behind") == ""
    assert ["#4" in cards[0], "#5" in cards[1]] == [True, True], "the newest, which stand on everybody's wall"


async def test_spending_is_the_operators_business(database_url: str, tmp_path: Path, connection: Any) -> None:
    async with opened(database_url, tmp_path / "data", is_local=False) as house:
        key = await house.key()
        async with watching(house) as public, watching(house, Authorization=f"Bearer {key}") as operator:
            await workshop.minted(connection, 1)
            assert "Spent today" not in await the_next(public, "numbers")
            assert "Spent today" in await the_next(operator, "numbers")


async def test_a_key_that_is_revoked_sees_no_more(database_url: str, tmp_path: Path, connection: Any) -> None:
    async with opened(database_url, tmp_path / "data", is_local=False) as house:
        key = await house.key()
        async with watching(house, Authorization=f"Bearer {key}") as operator:
            found = await KeyRepository(house.link).find(key)
            assert found
            await KeyRepository(house.link).revoke(found.key_id, "a test")
            assert [said async for said in operator if said.get("event") == "card"] == [], "it ends"


@pytest.mark.parametrize("query", ["of=nothing", "of=wall&after=x", "of=token&token=x"])
async def test_a_question_that_makes_no_sense_is_refused(house: House, query: str) -> None:
    async with httpx.AsyncClient(base_url=house.address) as client:
        assert (await client.get(f"/live?{query}")).status_code in (400, 422)


async def test_a_place_that_is_none_of_ours_is_told_to_look_anew(house: House) -> None:
    async with watching(house, **{"Last-Event-ID": "x"}) as found:
        assert await the_next(found, "behind") == ""


async def test_who_does_not_read_is_let_go_and_told_what_waits() -> None:
    viewer = Viewer("news", 0, is_operator=False)
    for n in range(live.WAITING + 5):
        viewer.give(Piece(Position(1, n), b"", b"", b"", frozenset()).to(viewer))
    heard = [said async for said in viewer.pieces()]
    assert len(heard) == live.WAITING
    assert viewer.is_over
