"""/author, as it comes from the server."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.web import opened


async def test_anybody_may_write_a_prompt_and_is_told_what_each_choice_means(database_url: str, tmp_path: Path) -> None:
    async with (
        opened(database_url, tmp_path, is_local=False, prompt_disclosure="later") as house,
        httpx.AsyncClient(base_url=house.address) as browser,
    ):
        page = await browser.get("/author")
    assert page.status_code == 200
    for value in ("", "now", "later", "never"):
        assert f'name="disclosure" value="{value}"' in page.text
    assert "what is usual here: later" in page.text
    assert 'data-longest="1000"' in page.text
    assert "<script>" not in page.text
