"""What a gallery reads: page by page, along an index, and no picture before its time."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from glisk.engine.link import Link
from glisk.repositories import gallery_board
from glisk.repositories.gallery_board import FILTERS, NEWEST, Card, GalleryBoard
from tests.builders import DRAWN, MANY_TOKENS, PINNED, a_token_row
from tests.integration.test_plans import plan, walk

REVEALED = (
    "UPDATE tokens_s0 SET status = 'revealed', finished_at = now(), token_uri = 'ipfs://bafy' WHERE token_id = $1"
)
AT_WORK = """
    UPDATE tokens_s0 SET status = 'generating', leased_by = 'w', leased_until = now() + interval '1 minute' WHERE token_id = $1"""


def ids(cards: list[Card]) -> list[str]:
    return [card.token_id for card in cards]


@pytest.fixture
def board(link: Link) -> GalleryBoard:
    return GalleryBoard(link, reveals=True)


async def test_todays_are_those_that_the_number_counts(board: GalleryBoard, connection: Any) -> None:
    for token_id in (1, 2, 3):
        await a_token_row(connection, token_id, **PINNED)
        await connection.execute(REVEALED, token_id)
    await connection.execute("UPDATE tokens_s0 SET finished_at = now() - interval '25 hours' WHERE token_id = 2")
    assert ids(await board.cards("today")) == ["3", "1"]
    assert (await board.numbers()).shown_today == 2
    assert await board.cards("today", author="0x" + "9" * 40) == []


async def test_pages_follow_each_other_without_gap_or_repetition(board: GalleryBoard, connection: Any) -> None:
    for token_id in range(1, 8):
        await a_token_row(connection, token_id)
    found, before = list[str](), NEWEST
    while page := await board.cards(before=before, limit=3):
        found, before = found + ids(page), page[-1].id
    assert found == [str(n) for n in range(7, 0, -1)]


async def test_a_picture_is_on_its_card_only_when_everybody_may_see_it(link: Link, connection: Any) -> None:
    for token_id, status, facts in ((1, "uploading", DRAWN), (2, "ready", PINNED), (3, "ready", PINNED)):
        await a_token_row(connection, token_id, status=status, **facts)
    await connection.execute(REVEALED, Decimal(3))
    revealing, not_revealing = GalleryBoard(link, reveals=True), GalleryBoard(link, reveals=False)
    assert [card.token_id for card in await revealing.cards() if card.image] == ["3"]
    assert [card.token_id for card in await not_revealing.cards() if card.image] == ["3", "2"]


async def test_cards_are_chosen_by_status_and_author(board: GalleryBoard, connection: Any) -> None:
    await a_token_row(connection, 1)
    await a_token_row(connection, 2)
    await connection.execute(AT_WORK, Decimal(2))
    await a_token_row(connection, 3, status="review")
    await a_token_row(connection, 4, status="orphaned")
    assert ids(await board.cards()) == ["3", "2", "1"], "a mint that has left the chain is no token"
    assert ids(await board.cards("under-way")) == ["2", "1"]
    assert ids(await board.cards("orphaned")) == ["4"]
    author = "0x" + "ab" * 20
    assert ids(await board.cards("review", author)) == ["3"]
    assert ids(await board.cards(author=author)) == ["3", "2", "1"]
    assert await board.cards(author="0x" + "cd" * 20) == []


async def test_numbers_tell_what_is_under_way_and_what_was_shown_today(board: GalleryBoard, connection: Any) -> None:
    for token_id, status in ((1, "detected"), (2, "detected"), (3, "review"), (4, "ready")):
        await a_token_row(connection, token_id, status=status, **PINNED)
    await connection.execute(AT_WORK, Decimal(2))
    await connection.execute(REVEALED, Decimal(4))
    numbers = await board.numbers()
    assert (numbers.under_way, numbers.shown_today, int(numbers.spent_today)) == (2, 1, 0)
    assert numbers.lag is None, "no chain is followed"


@pytest.mark.parametrize("chosen", [None, "under-way", "failed", "orphaned"])
async def test_a_page_of_very_many_tokens_reads_few_rows(connection: Any, chosen: str | None) -> None:
    await connection.execute(MANY_TOKENS, 30_000, ["detected", "uploading", "failed"], 0)
    await connection.execute("VACUUM ANALYZE tokens_s0")
    terms = ([["revealed"], FILTERS[chosen]] if chosen else [["revealed"]], [NEWEST, 60])
    sql = gallery_board.OF_STATUS if chosen else gallery_board.OF_ANY
    nodes = list(walk(await plan(connection, sql, *terms[0], *terms[1])))
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in nodes if "Scan" in node["Node Type"]) < 1500
