"""The operator's pages in a real browser: lanes held and failures retried by click, everything live, nothing moved from under a hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.looking import axe, overflow
from tests.builders import a_token_row
from tests.installations import furnish
from tests.web import House, opened

MINTED = ".funnel .n"
BOARDS = ("/pipeline", "/failures", "/j", "/chain", "/spend", "/system")
DEEPER = (
    *("/failures?workflow=token&step=generating&cause=GLK-302", "/j?workflow=image_edit&status=failed"),
    *("/spend?days=90", "/spend/authors", "/system/checks"),
)


@pytest.fixture
async def empty(database_url: str, data_dir: Path) -> AsyncIterator[House]:
    async with opened(database_url, data_dir, daily_budget="5") as house:
        yield house


@pytest.fixture
async def house(empty: House, connection: Any) -> House:
    await furnish(connection, empty.link)
    return empty


async def test_a_lane_is_held_and_resumed_by_click(house: House, page: Page) -> None:
    await page.goto(f"{house.address}/pipeline")
    lane = page.locator("#lane-replicate")
    await lane.locator("summary", has_text="Hold").click()
    await lane.get_by_label("Why? Everybody will read it.").fill("The credit is spent")
    await lane.get_by_role("button", name="Hold replicate").click()
    await expect(page.get_by_role("status")).to_have_text("replicate is held.")
    await expect(lane.get_by_text("The credit is spent")).to_be_visible()
    await expect(page.locator(".banner")).to_contain_text("The lane replicate is held.")
    await lane.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("status")).to_have_text("replicate is open.")
    await expect(lane.locator(".chip")).to_have_text("✓ open")
    await expect(page.locator(".banner")).not_to_contain_text("replicate")


async def test_a_group_of_failures_is_retried_by_click_after_it_says_how_many_and_for_how_much(
    house: House, page: Page
) -> None:
    await page.goto(f"{house.address}/failures")
    group = page.get_by_role("article").filter(has_text="GLK-302")
    await group.locator("summary", has_text="Retry these 7 (≈ $").click()
    await expect(group.locator(".ask p")).to_contain_text("7 tokens go on at the step that failed. It costs about $")
    await group.get_by_role("button", name="Retry 7").click()
    await expect(page.get_by_role("status")).to_have_text("7 of 7 are tried again.")
    await expect(page.get_by_role("article").filter(has_text="GLK-302")).to_have_count(0)
    await expect(page.get_by_role("article")).to_have_count(2)


async def test_a_page_follows_what_happens_but_not_while_somebody_is_at_it(
    house: House, new_page: Open, connection: Any
) -> None:
    page, beside = await new_page(), await new_page()
    for each in (page, beside):
        await each.goto(f"{house.address}/pipeline")
        await each.wait_for_selector("[data-connected]")
    await page.evaluate("window.isTheSame = true")
    minted = page.locator(MINTED).first
    await expect(minted).to_have_text("32")
    await a_mint(connection, 101)
    await expect(minted).to_have_text("33")
    lane = page.locator("#lane-replicate")
    await lane.locator("summary", has_text="Hold").click()
    await lane.get_by_label("Why? Everybody will read it.").fill("Just a mo")
    await a_mint(connection, 102)
    await expect(beside.locator(MINTED).first).to_have_text("34")
    await expect(lane.get_by_label("Why? Everybody will read it.")).to_have_value("Just a mo")
    await expect(minted).to_have_text("33")
    await lane.locator("summary", has_text="Hold").click()
    await expect(minted).to_have_text("34")
    assert await page.evaluate("window.isTheSame"), "the page was loaded once"


async def test_what_is_done_by_click_is_done_without_javascript_too(house: House, new_page: Open) -> None:
    page = await new_page(java_script_enabled=False)
    await page.goto(f"{house.address}/pipeline")
    await page.locator("#lane-ipfs").get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("status")).to_have_text("ipfs is open.")
    await page.goto(f"{house.address}/failures")
    await page.get_by_role("article").first.locator("summary").click()
    await page.get_by_role("button", name="Retry 7").click()
    await expect(page.get_by_role("status")).to_have_text("7 of 7 are tried again.")
    await page.goto(f"{house.address}/system")
    await page.get_by_role("link", name="Ask every part now").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Doctor")


async def test_the_keyboard_is_enough(house: House, page: Page) -> None:
    await page.goto(f"{house.address}/pipeline")
    lane = page.locator("#lane-chain")
    await lane.locator("summary", has_text="Limit").focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await page.keyboard.type("7")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status")).to_contain_text("chain takes")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
async def test_pages_full_of_things_can_be_read_by_everybody(
    house: House, new_page: Open, connection: Any, scheme: Literal["light", "dark"], width: int
) -> None:
    job = await connection.fetchval("SELECT id FROM jobs WHERE status = 'failed'")
    page = await new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    assert await problems(page, house, (*BOARDS, *DEEPER, f"/j/{job}")) == []


@pytest.mark.parametrize("width", [360, 1280])
async def test_empty_pages_can_be_read_by_everybody(empty: House, new_page: Open, width: int) -> None:
    page = await new_page(viewport={"width": width, "height": 800})
    assert await problems(page, empty, BOARDS) == []


@pytest.mark.parametrize("path", ["/pipeline", "/failures"])
async def test_an_open_question_fits_a_narrow_screen(house: House, new_page: Open, path: str) -> None:
    page = await new_page(viewport={"width": 360, "height": 740})
    await page.goto(f"{house.address}{path}")
    for summary in await page.locator(".action > summary").all():
        await summary.click()
    assert await overflow(page) == 0
    assert await axe(page) == []


async def problems(page: Page, house: House, paths: tuple[str, ...]) -> list[str]:
    found = []
    for path in paths:
        answer = await page.goto(house.address + path)
        if answer is None or answer.status != 200:
            found.append(f"{path} is not shown")
        if wider := await overflow(page):
            found.append(f"{path} is {wider} pixels too wide")
        found += [f"{path}: {each}" for each in await axe(page)]
    return found


async def a_mint(connection: Any, n: int) -> None:
    id = await a_token_row(connection, n)
    await connection.execute(
        "INSERT INTO events (item_id, workflow, to_status, epoch, actor) VALUES ($1, 'token', 'detected', 0, 'listener')",
        id,
    )


async def test_a_tab_keeps_its_title_when_a_part_has_come(house: House, page: Page) -> None:
    for path, part, title in (
        ("/chain", "#checks", "Chain"),
        ("/spend", "#authors", "Spend"),
        ("/system", "#checks", "System"),
    ):
        await page.goto(house.address + path)
        await page.wait_for_selector(part)
        await expect(page).to_have_title(f"{title} · Glisk")


async def test_on_a_phone_every_page_can_be_reached(house: House, new_page: Open) -> None:
    page = await new_page(viewport={"width": 360, "height": 800})
    await page.goto(f"{house.address}/system")
    links = await page.locator(".top nav a").all()
    edges = [box["x"] + box["width"] for link in links if (box := await link.bounding_box())]
    assert (len(edges), max(edges) <= 360) == (8, True)
