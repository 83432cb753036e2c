"""One token in a real browser: what it shows to whom, and what a click does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from glisk.dev.standins.replicate_control import ReplicateControl
from tests import workshop
from tests.browser.conftest import Open
from tests.drawing import Atelier
from tests.engines import true
from tests.web import opened


async def test_a_failed_token_is_retried_by_a_click_and_becomes_a_picture(
    database_url: str, connection: Any, atelier: Atelier, standin: ReplicateControl, data_dir: Path, page: Page
) -> None:
    standin.always(on="create", status_code=422)
    given = atelier.settings(data_dir=data_dir, reveal="off")
    async with opened(database_url, data_dir, reveal="off") as house, workshop.at_work(database_url, given):
        await workshop.minted(connection, 4)
        await true(connection, "SELECT status = 'failed' FROM tokens_s0")
        await page.goto(f"{house.address}/t/4")
        await expect(page.locator(".story").get_by_role("link", name="GLK-306")).to_be_visible()
        standin.reset()
        await page.locator("summary", has_text="Retry").click()
        await expect(page.get_by_text("A picture that is there is not drawn again.")).to_be_visible()
        await page.get_by_role("button", name="Retry").click()
        await expect(page.get_by_role("status")).to_have_text("Token 4 is retried.")
        await expect(page.locator(".picture img")).to_be_visible()
        await expect(page.locator(".plate .chip")).to_contain_text("pinned")
        await expect(page.locator(".story")).to_contain_text("by hand retried")
    actors = await connection.fetch("SELECT actor FROM events WHERE from_status = 'failed'")
    assert [row["actor"] for row in actors] == ["this machine"], "who did it is in the audit log"


async def test_what_has_changed_meanwhile_is_left(
    database_url: str, connection: Any, data_dir: Path, page: Page
) -> None:
    async with opened(database_url, data_dir) as house:
        await workshop.minted(connection, 4)
        await page.goto(f"{house.address}/t/4")
        await page.locator("summary", has_text="Cancel").click()
        await connection.execute(
            "UPDATE tokens_s0 SET epoch = epoch + 1, status = 'failed', finished_at = now(), generation_error = 'no'"
        )
        await page.get_by_role("button", name="Cancel it").click()
        await expect(page.get_by_role("status")).to_have_text("Token 4 is not cancelled: already failed.")


async def test_the_keyboard_reaches_and_does_everything(
    database_url: str, connection: Any, data_dir: Path, page: Page
) -> None:
    async with opened(database_url, data_dir) as house:
        await workshop.minted(connection, 4)
        await page.goto(house.address)
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        await page.keyboard.press("Enter")
        while not await page.get_by_role("link", name="Glisk #4").evaluate("link => link === document.activeElement"):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/t/4")
        summary = page.locator("summary", has_text="Hold")
        while not await summary.evaluate("each => each === document.activeElement"):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status")).to_have_text("Token 4 is held.")
        await expect(page.locator(".plate .chip")).to_contain_text("in review")


async def test_a_prompt_is_shown_to_those_who_may_know_it(
    database_url: str, connection: Any, data_dir: Path, page: Page
) -> None:
    prompt = "A lotus in bloom"
    async with opened(database_url, data_dir, is_local=False, reveal="off") as house:
        await workshop.minted(connection, 4, prompt)
        async with workshop.at_work(database_url, house.settings):
            await true(connection, "SELECT status = 'ready' FROM tokens_s0")
        await page.goto(f"{house.address}/t/4")
        await expect(page.locator(".picture img")).to_be_visible()
        await expect(page.get_by_text(prompt)).to_have_count(0)
        await connection.execute("UPDATE authors SET prompt_disclosure = 'now'")
        await page.reload()
        await expect(page.locator(".prompt")).to_have_text(prompt)
        await expect(page.locator("summary")).to_have_count(0)


async def test_an_operator_logs_in_and_acts(database_url: str, connection: Any, data_dir: Path, page: Page) -> None:
    async with opened(database_url, data_dir, is_local=False) as house:
        await workshop.minted(connection, 4)
        await page.goto(f"{house.address}/login?to=/t/4")
        await page.get_by_label("Operator key").fill(await house.key("anna"))
        await page.get_by_role("button", name="Log in").click()
        await expect(page.get_by_role("status")).to_have_text("You are logged in as anna.")
        await page.locator("summary", has_text="Hold").click()
        await page.get_by_role("button", name="Hold it").click()
        await expect(page.get_by_role("status")).to_have_text("Token 4 is held.")
    assert await connection.fetchval("SELECT actor FROM events ORDER BY event_id DESC LIMIT 1") == "anna"


async def test_a_page_of_another_site_cannot_act(
    database_url: str, connection: Any, data_dir: Path, new_page: Open
) -> None:
    page = await new_page(tolerates="403")
    async with opened(database_url, data_dir) as house:
        await workshop.minted(connection, 4)
        form = f"<form method=post action={house.address}/t/4/do/cancel><input name=epoch value=0><button>Win</button></form>"
        await page.goto(f"data:text/html,{form}")
        await page.get_by_role("button").click()
        await expect(page.locator("body")).to_contain_text("GLK-803")
    assert await connection.fetchval("SELECT status FROM tokens_s0") == "detected"
