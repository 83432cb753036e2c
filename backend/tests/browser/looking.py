"""What a test looks for in a page."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page

from tests.browser.chromium import AXE

GRAVE = ("serious", "critical")
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
RUN_AXE = "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"


async def axe(page: Page) -> list[str]:
    """What keeps somebody out, seriously: a line for each kind, with the first place."""
    await page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = await page.evaluate(RUN_AXE)
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found if each["impact"] in GRAVE]


async def overflow(page: Page) -> int:
    """By how many pixels it is wider than the window."""
    return max(int(await page.evaluate(OVERFLOW)), 0)
