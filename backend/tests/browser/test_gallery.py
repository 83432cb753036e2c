"""The gallery in a real browser: cards come by themselves, become pictures, and nothing moves under the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from glisk.repositories.token_board import TokenBoard
from tests import workshop
from tests.web import opened


async def test_a_mint_becomes_a_card_and_then_a_picture_without_a_reload(
    database_url: str, connection: Any, data_dir: Path, page: Page
) -> None:
    async with opened(database_url, data_dir, reveal="off") as house:
        await page.goto(house.address)
        await page.evaluate("window.isTheSame = true")
        await expect(page.get_by_text("Nothing has been minted yet.")).to_be_visible()
        await workshop.minted(connection, 17)
        card = page.get_by_role("link", name="Glisk #17")
        await expect(card.get_by_text("minted")).to_be_visible()
        async with workshop.at_work(database_url, house.settings):
            await expect(card.locator("img")).to_be_visible()
        assert await page.evaluate("window.isTheSame"), "the page was loaded once"
        await expect(page.locator("#numbers")).to_contain_text("Under way 0")
        await expect(card.locator("img")).to_have_js_property("naturalWidth", 640)


async def test_nothing_moves_under_the_cursor(database_url: str, connection: Any, data_dir: Path, page: Page) -> None:
    async with opened(database_url, data_dir) as house:
        await workshop.minted(connection, 1)
        await page.goto(house.address)
        first = page.get_by_role("link", name="Glisk #1")
        await first.hover()
        for token_id in (2, 3):
            await workshop.minted(connection, token_id)
        newer = page.get_by_role("button", name="2 new")
        await expect(newer).to_be_visible()
        assert await page.locator(".card").count() == 1
        await newer.click()
        await expect(page.locator(".card .name")).to_have_text(["Glisk #3", "Glisk #2", "Glisk #1"])
        await expect(newer).to_be_hidden()


async def test_a_choice_of_tokens_counts_only_what_belongs_to_it(
    database_url: str, connection: Any, data_dir: Path, page: Page
) -> None:
    async with opened(database_url, data_dir) as house:
        await page.goto(f"{house.address}/?status=failed")
        await page.wait_for_selector("[data-connected]")
        for token_id in (1, 2):
            await workshop.minted(connection, token_id)
        board = TokenBoard(house.link)
        await board.cancel(await board.named(["2"]), "a test")
        await page.get_by_role("button", name="1 new").click()
        await expect(page.locator(".card .name")).to_have_text(["Glisk #2"])


async def test_who_was_away_has_missed_nothing(database_url: str, connection: Any, data_dir: Path, page: Page) -> None:
    async with opened(database_url, data_dir) as house:
        await page.goto(house.address)
        await page.wait_for_selector("[data-connected]")
        await page.context.set_offline(True)
        await workshop.minted(connection, 5)
        await page.context.set_offline(False)
        await expect(page.get_by_role("link", name="Glisk #5")).to_be_visible()


async def test_older_tokens_come_when_one_scrolls(
    database_url: str, connection: Any, data_dir: Path, page: Page
) -> None:
    async with opened(database_url, data_dir) as house:
        for token_id in range(1, 66):
            await workshop.minted(connection, token_id)
        await page.goto(house.address)
        assert await page.locator(".card").count() == 60
        await page.locator(".older").scroll_into_view_if_needed()
        await expect(page.locator(".card")).to_have_count(65)
        await expect(page.locator(".older")).to_have_count(0)


async def test_a_visitor_sees_nothing_of_a_picture_that_is_not_revealed(
    database_url: str, connection: Any, data_dir: Path, page: Page
) -> None:
    secret = "A lighthouse that nobody knows of yet"
    async with opened(database_url, data_dir, is_local=False, reveal="on") as house:
        await page.goto(house.address)
        id = await workshop.minted(connection, 9, secret)
        card = page.get_by_role("link", name="Glisk #9")
        await expect(card).to_be_visible()
        async with workshop.at_work(database_url, house.settings):
            await expect(card.get_by_text("pinned")).to_be_visible()
        shown = [await page.content()]
        await page.goto(f"{house.address}/t/9")
        assert await page.get_by_role("button").count() == 0
        key = await connection.fetchval("SELECT image_key FROM tokens_s0 WHERE id = $1", id)
        told = await page.request.get(f"{house.address}/tokens/9")
        shown += [await page.content(), await told.text()]
        assert [secret in text or key in text for text in shown] == [False] * len(shown)
        assert (await page.request.get(f"{house.address}/thumbs/{key}")).status == 404
