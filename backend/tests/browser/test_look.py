"""Every page, narrow and wide, light and dark: nothing wider than the screen, nothing that keeps anybody out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest

from glisk.repositories.token_board import TokenBoard
from tests import workshop
from tests.browser.conftest import Open
from tests.browser.looking import axe, overflow
from tests.engines import true
from tests.installations import furnish
from tests.web import House, opened

PICTURE, FAILED, WAITING = 9001, 9002, 9003
PAGES = (
    *(
        "/",
        f"/t/{PICTURE}",
        f"/t/{FAILED}",
        f"/t/{WAITING}",
        "/errors",
        "/errors/GLK-101",
        "/errors/GLK-999",
        "/login",
        "/author",
        "/docs",
    ),
    *("/pipeline", "/failures", "/j", "/chain", "/spend", "/system"),
)


@pytest.fixture
async def house(database_url: str, connection: Any, data_dir: Path) -> AsyncIterator[House]:
    """With something on every page: a picture, failures, a lane that is held, jobs, money."""
    async with opened(database_url, data_dir, reveal="off") as house:
        await workshop.minted(connection, PICTURE)
        async with workshop.at_work(database_url, house.settings):
            await true(connection, "SELECT status = 'ready' FROM tokens_s0")
        for token_id in (FAILED, WAITING):
            await workshop.minted(connection, token_id)
        board = TokenBoard(house.link)
        await board.cancel(await board.named([str(FAILED)]), "a test")
        await furnish(connection, house.link)
        yield house


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
async def test_every_page_can_be_read_by_everybody(
    house: House, new_page: Open, scheme: Literal["light", "dark"], width: int
) -> None:
    page = await new_page(tolerates="404", color_scheme=scheme, viewport={"width": width, "height": 800})
    problems = []
    for path in PAGES:
        answer = await page.goto(house.address + path)
        assert answer
        if answer.status >= 500:
            problems.append(f"{path}: {answer.status}")
        if wider := await overflow(page):
            problems.append(f"{path} is {wider} pixels too wide")
        problems += [f"{path}: {found}" for found in await axe(page)]
    assert problems == []


async def test_who_wants_no_motion_gets_none(house: House, new_page: Open) -> None:
    page = await new_page(tolerates="404", reduced_motion="reduce")
    await page.goto(house.address)
    moving = "document.getAnimations().length"
    assert await page.evaluate(moving) == 0


async def test_pages_work_without_javascript(house: House, new_page: Open) -> None:
    page = await new_page(java_script_enabled=False)
    await page.goto(f"{house.address}/t/{FAILED}")
    await page.locator("summary", has_text="Retry").click()
    await page.get_by_role("button", name="Retry").click()
    assert await page.get_by_role("status").text_content() == f"Token {FAILED} is retried."
