"""What docs/studio.md shows works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from glisk.engine.link import Link
from glisk.repositories.job_repository import JobRepository
from glisk.thinking.tasks import KINDS
from tests.jobbing import A_CONVERSATION, AN_OWNER, Shop

PAGE = (Path(__file__).parents[3] / "docs" / "studio.md").read_text()
PROMPT = "A lighthouse on a cliff, storm clouds"


def example() -> Any:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)
    return found["told_in_short"]


async def test_the_multi_step_task_runs_on_the_embedded_default(shop: Shop, link: Link) -> None:
    await shop.connection.execute(AN_OWNER)
    await shop.connection.execute(A_CONVERSATION)
    id = await example()(JobRepository(link), "anna", "c", PROMPT)
    assert (await shop.row(id))["dependency_count"] == 2
    async with shop.open("llm_task"):
        row = await shop.until(id)
    rows = await shop.connection.fetch("SELECT status, progress FROM jobs")
    assert [tuple(each) for each in rows] == [("completed", 100)] * 3
    summary = row["result"]["summary"]
    assert summary.startswith("2 jobs have ended. Title and description: A lighthouse on a cliff, with storm clouds.")
    assert "Expand prompt: A lighthouse on a cliff, storm clouds, " in summary


@pytest.mark.parametrize("name", KINDS)
def test_every_task_is_on_the_page_with_what_it_wants(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \|(.*)\|", PAGE, re.MULTILINE)
    assert all(f"`{field}`" in row for field in KINDS[name].__struct_fields__)
