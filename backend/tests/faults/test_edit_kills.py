"""kill -9 while an edit is paid for: one charge, a job that says so, and one more only when a person asks for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from glisk.dev.standins import openai_control
from glisk.dev.standins.control import Control
from tests.editing import STEADY, Retouching, a_brick, a_hole, data_url
from tests.forked import FORKS

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("owners")]
SHORT = replace(STEADY, lease=timedelta(seconds=1))
ASKED: dict[str, Any] = {
    "samples": [{"name": "Brick", "url": data_url(a_brick())}],
    "mask": data_url(a_hole((10, 10, 50, 40))),
}


async def edit(url: str, standin: str, data_dir: Path) -> None:
    shop = Retouching(url, None, Control([standin], lambda *_: None), data_dir)
    async with shop.at_work(pace=SHORT, name=f"fork-{os.getpid()}"):
        await asyncio.Event().wait()


def edit_in_fork(url: str, standin: str, data_dir: Path) -> None:
    asyncio.run(edit(url, standin, data_dir))


async def taken_and_not_answered(shop: Retouching) -> None:
    assert shop.standin
    await shop.standin.reached("edit")


async def before_it_is_sent(shop: Retouching) -> None:
    """The attempt is open; whether the call was made, nobody can tell afterwards."""
    heard = asyncio.Event()
    await shop.connection.add_listener("glisk_point", lambda *_: heard.set())
    await heard.wait()


TELL = """
    CREATE FUNCTION tell_the_point() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NOTIFY glisk_point; RETURN NULL; END $$;
    CREATE TRIGGER tell_the_point AFTER INSERT ON attempts EXECUTE FUNCTION tell_the_point()"""


@pytest.mark.parametrize("point", [taken_and_not_answered, before_it_is_sent])
async def test_a_kill_between_order_and_answer_is_charged_once_at_most_and_told(
    point: Callable[[Retouching], Coroutine[Any, Any, None]], database_url: str, connection: Any, tmp_path: Path
) -> None:
    await connection.execute(TELL)
    with openai_control.in_thread() as standin:
        shop = Retouching(database_url, connection, standin, tmp_path / "data")
        standin.script(on="edit", hold="answer")
        id = await shop.job(**ASKED)
        coming = asyncio.create_task(point(shop))
        await asyncio.sleep(0)
        process = FORKS.Process(target=edit_in_fork, args=(shop.url, standin.url, shop.data_dir))
        process.start()
        await coming
        process.kill()
        process.join()
        process.close()
        standin.release("answer")
        row = await shop.edited(pace=SHORT)
        assert row["status"] == "failed"
        assert "may have been charged" in row["error_message"]
        assert await shop.outcomes() == ["unknown"]
        charged = shop.charged()
        assert charged == 1 or (charged == 0 and point is before_it_is_sent), "nobody has asked again"
        await shop.retried(id)
        async with shop.at_work():
            await shop.until("status = 'completed'")
        assert shop.charged() == charged + 1
        assert await shop.outcomes() == ["unknown", "done"]
