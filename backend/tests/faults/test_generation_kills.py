"""kill -9 wherever it hurts while a token is drawn: it ends with one picture, and Replicate has charged once."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from glisk.dev.standins import replicate_control
from glisk.dev.standins.control import Control
from tests.drawing import STEADY, Atelier
from tests.forked import FORKS, killed_after

RUNS = 100 if os.environ.get("PROVE") else 10
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
SHORT = replace(STEADY, lease=timedelta(seconds=1))

pytestmark = pytest.mark.faults


async def draw(url: str, standin: str, data_dir: Path) -> None:
    shop = Atelier(url, None, Control([standin], lambda *_: None), data_dir)  # type: ignore[arg-type] # only its address
    async with shop.at_work(pace=SHORT, name=f"fork-{os.getpid()}"):
        await asyncio.Event().wait()


def draw_in_fork(url: str, standin: str, data_dir: Path) -> None:
    asyncio.run(draw(url, standin, data_dir))


# The points. Each prepares what makes the moment last, and returns when it has come.

Point: TypeAlias = Callable[[Atelier], Coroutine[Any, Any, None]]


async def told(shop: Atelier, table: str, when: str) -> None:
    """The database says that it has happened, in the transaction that did it."""
    heard = asyncio.Event()
    await shop.connection.add_listener("glisk_point", lambda *_: heard.set())
    while not await shop.connection.fetchval(f"SELECT count(*) FROM {table} WHERE {when}"):
        await heard.wait()
        heard.clear()


async def before_it_is_ordered(shop: Atelier) -> None:
    await told(shop, "attempts", "outcome = 'open'")


async def ordered_but_not_answered(shop: Atelier) -> None:
    shop.standin.script(on="create", hold="answer")
    await shop.standin.reached("create")


async def answered(shop: Atelier) -> None:
    await told(shop, "attempts", "receipt IS NOT NULL")


async def while_it_waits(shop: Atelier) -> None:
    shop.standin.script(on="create", runs_for_s=0.5)
    await shop.standin.reached("get")


async def during_the_download(shop: Atelier) -> None:
    shop.standin.script(on="file", download="trickle", pause_s=0.05)
    await shop.standin.reached("file")


async def before_it_is_settled(shop: Atelier) -> None:
    await told(shop, "image_prints", "true")


POINTS: tuple[Point | None, ...] = (
    *(before_it_is_ordered, ordered_but_not_answered, answered, while_it_waits),
    *(during_the_download, before_it_is_settled, None),  # None: wherever it happens to be
)
TELL = """
    CREATE FUNCTION tell_the_point() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NOTIFY glisk_point; RETURN NULL; END $$;
    CREATE TRIGGER tell_the_point AFTER INSERT OR UPDATE ON attempts EXECUTE FUNCTION tell_the_point();
    CREATE TRIGGER tell_the_point AFTER INSERT ON image_prints EXECUTE FUNCTION tell_the_point()"""


@pytest.mark.parametrize("run", range(RUNS))
async def test_a_worker_killed_anywhere_costs_neither_a_picture_nor_a_second_charge(
    run: int, database_url: str, connection: Any, tmp_path: Path
) -> None:
    points = random.Random(SEED + run)
    point = POINTS[run % len(POINTS)] if run < len(POINTS) else points.choice(POINTS)
    print(f"SEED={SEED} run={run} point={point.__name__ if point else 'any'}")
    await connection.execute(TELL)
    with replicate_control.in_thread() as standin:
        shop = Atelier(database_url, connection, standin, tmp_path / "data")
        await shop.token()
        if point:
            await killed_at(point, shop)
        else:
            await asyncio.to_thread(killed_after, points.uniform(0.3, 2), draw_in_fork, *site(shop))
        standin.release("answer")
        async with shop.at_work(pace=SHORT):
            await shop.until("status IN ('uploading', 'failed', 'review')")
        row = await shop.row()
        assert (row["status"], row["generation_attempts"], row["generation_error"]) == ("uploading", 0, None)
        assert (shop.charged(), shop.created()) == (1, 1)
        assert await shop.outcomes() == ["done"]


def site(shop: Atelier) -> tuple[str, str, Path]:
    return shop.url, shop.standin.url, shop.data_dir


async def killed_at(point: Point, shop: Atelier) -> None:
    coming = asyncio.create_task(point(shop))
    await asyncio.sleep(0)  # what it scripts stands before anybody works
    process = FORKS.Process(target=draw_in_fork, args=site(shop))
    process.start()
    await coming
    process.kill()
    process.join()
    process.close()
