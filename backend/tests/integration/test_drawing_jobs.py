"""A job is drawn as it asks to be, within bounds, and gets what seed 000 promises."""

from __future__ import annotations

import io
from datetime import datetime

import msgspec
import pytest
from PIL import Image
from structlog.testing import capture_logs

from glisk.engine.ledger import open_attempt, record
from glisk.engine.link import Link
from glisk.storage.objects import Objects
from tests.jobbing import Shop

CAT = {"prompt": "A cat on a mat", "width": "160", "height": 96, "steps": 7, "seed": 42}


async def test_a_picture_is_drawn_as_it_was_asked_for(shop: Shop) -> None:
    with capture_logs() as logs:
        row = await shop.done("image_generation", CAT)
    assert (row["status"], row["progress"], row["error_message"]) == ("completed", 100, None)
    assert row["payload"]["prompt"] == row["payload"]["prompt_used"] == CAT["prompt"]
    assert row["payload"]["generation_params"] == {"width": 160, "height": 96, "steps": 7, "seed": 42}
    assert datetime.fromisoformat(row["payload"]["generated_at"]).tzinfo
    assert row["result"]["image_url"] == row["payload"]["image_url"] == row["result_url"]
    assert row["result"]["image_data"] == row["output_r2_key"]
    data = await Objects.of(shop.settings()).get(row["output_r2_key"])
    assert Image.open(io.BytesIO(data or b"")).size == (160, 96)
    begun = next(log for log in logs if log["event"] == "drawing begun")
    assert (begun["id"], begun["prompt"]) == (row["id"], CAT["prompt"])


async def test_what_is_not_said_comes_from_the_settings_and_the_seed_stays(shop: Shop) -> None:
    row = await shop.done("r2_image", {"prompt": "A cat"})
    params = row["result"]["generation_params"]
    assert (row["status"], params["width"], params["height"], params["steps"]) == ("ready", 128, 96, 20)
    (attempt,) = await shop.attempts()
    assert attempt["seed"] == params["seed"] < 2**31


@pytest.mark.parametrize("payload", [{}, {"prompt": ""}, {"prompt": None}])
async def test_without_a_prompt_nothing_is_ordered(shop: Shop, payload: dict[str, object]) -> None:
    row = await shop.done("image_generation", payload)
    assert (row["status"], row["error_message"]) == ("failed", "Missing required prompt for image generation")
    assert await shop.attempts() == []


async def test_what_nobody_can_draw_is_told_and_nothing_is_ordered(shop: Shop) -> None:
    row = await shop.done("image_generation", CAT | {"width": 99999})
    assert row["status"] == "failed"
    assert "width" in row["error_message"]
    assert await shop.attempts() == []


async def test_every_try_of_a_job_has_the_same_seed(shop: Shop) -> None:
    """The first order went wrong: it is closed, and another is placed."""
    id = await shop.ask("image_generation", {"prompt": "A cat"})
    async with shop.open("image_generation"):
        first = (await shop.until(id))["result"]["generation_params"]["seed"]
    await shop.connection.execute("UPDATE jobs SET status = 'pending', finished_at = NULL WHERE id = $1", id)
    async with shop.open("image_generation"):
        await shop.until(id)
    assert [attempt["seed"] for attempt in await shop.attempts()] == [first, first]


async def test_two_orders_with_one_seed_are_drawn_one_after_the_other(shop: Shop, link: Link) -> None:
    """By its seed a lost order is found again, so no two that are open may share one."""
    other = await open_attempt(link.fetch, 10**6, "generating", 1, provider="studio", worker="x", seed=42)
    async with shop.open("r2_image"):
        id = await shop.ask("r2_image", CAT)
        waiting = await shop.until(id, "error_message LIKE 'Another picture with the same seed%'")
        assert (waiting["retry_count"], waiting["finished_at"]) == (0, None)
        await record(link.fetch, other.id, "done")
        assert (await shop.until(id))["status"] == "ready"


async def test_many_jobs_with_one_seed_all_get_their_picture(shop: Shop) -> None:
    async with shop.open("r2_image"):
        ids = [await shop.ask("r2_image", CAT | {"prompt": f"A cat {n}"}) for n in range(3)]
        rows = [await shop.until(id) for id in ids]
    assert {row["status"] for row in rows} == {"ready"}


async def test_a_picture_that_cannot_be_read_back_is_parked_for_a_person(shop: Shop) -> None:
    objects = Objects.of(shop.settings())
    id = await shop.ask("image_generation", {"prompt": "A cat"})
    parked = {"image_data": (await objects.put(b"a", "image/png", "png")).key}
    await objects.delete(parked["image_data"])
    await shop.connection.execute(
        "UPDATE jobs SET status = 'ready-for-uploading', payload = $2 WHERE id = $1",
        id,
        msgspec.json.encode(parked).decode(),
    )
    async with shop.open("image_generation"):
        row = await shop.until(id)
    assert (row["status"], row["retry_count"]) == ("ready-for-uploading-failed", 0)
    assert "not in the object storage" in row["error_message"]


async def test_what_is_stored_is_announced_so_that_nobody_deletes_the_same_bytes_meanwhile(shop: Shop) -> None:
    row = await shop.done("r2_image", CAT)
    assert await shop.connection.fetchval("SELECT object_key FROM leftovers") == row["output_r2_key"]
