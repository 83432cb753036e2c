"""A real browser for every test: its own cookies, its own pages; what goes wrong in a page fails the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.browser import chromium
from tests.integration.conftest import atelier, link, standin

__all__ = ["atelier", "link", "standin"]
Open = Callable[..., Awaitable[Page]]


@pytest.fixture(scope="session")
def chromium_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chromium.running(tmp_path_factory.mktemp("chromium")) as url:
        yield url


@pytest.fixture
async def browser(chromium_url: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(chromium_url)
        yield browser
        await browser.close()


@pytest.fixture
async def new_page(browser: Browser) -> AsyncIterator[Open]:
    """Makes a page of somebody who was never here. When the test ends, nothing may have gone wrong in it, but what it `tolerates`."""
    troubles: list[str] = []

    hear = troubles.append

    async def open(*, tolerates: str = "nothing", **options: Any) -> Page:
        context = await browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        page = await context.new_page()
        page.on(
            "console", lambda said: hear(said.text) if said.type == "error" and tolerates not in said.text else None
        )
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.set_default_timeout(30_000)
        return page

    yield open
    for context in browser.contexts:
        await context.close()
    assert troubles == []


@pytest.fixture
async def page(new_page: Open) -> Page:
    return await new_page()


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"
