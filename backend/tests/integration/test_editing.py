"""From a job to an edited picture that its project shows (seed 002), through the real worker, the darkroom and OpenAI's stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import SecretStr

from glisk.dev.standins import openai_control
from glisk.dev.standins.control import Control
from glisk.doctor import examine
from glisk.engine import control, lanes
from glisk.engine.link import Link
from glisk.errors import BadSettings
from glisk.images.mark import is_marked
from glisk.images.opened import as_png
from glisk.processors.editing import Editing
from glisk.settings import Settings
from glisk.workflows import JOBS
from tests.editing import KEY, Retouching, a_brick, a_hole, a_photo, data_url, in_jpeg, result_of
from tests.engines import true

pytestmark = pytest.mark.usefixtures("owners")
HOLE = (10, 10, 50, 40)
SAMPLES = [{"name": "Brick", "url": data_url(a_brick())}]
ASKED: dict[str, Any] = {"samples": SAMPLES, "mask": data_url(a_hole(HOLE))}


@pytest.fixture
def standin() -> Iterator[Control]:
    with openai_control.in_thread() as control:
        yield control


@pytest.fixture
def darkroom(database_url: str, connection: Any, tmp_path: Path) -> Retouching:
    return Retouching(database_url, connection, None, tmp_path / "data")


@pytest.fixture
def openai(database_url: str, connection: Any, standin: Control, tmp_path: Path) -> Retouching:
    return Retouching(database_url, connection, standin, tmp_path / "data")


def differs(one: Image.Image, other: Image.Image) -> Any:
    return (np.asarray(one.convert("RGB")) != np.asarray(other.convert("RGB"))).any(axis=2)


# The darkroom, which is there without any setting


async def test_a_sample_is_laid_where_the_mask_is_and_the_project_shows_it(darkroom: Retouching) -> None:
    await darkroom.job(**ASKED)
    row = await darkroom.edited()
    assert (row["status"], row["error_message"]) == ("completed", None)
    assert row["result_url"].endswith(f"/objects/{row['output_r2_key']}")
    assert result_of(row)["image_mime"] == "image/png"
    assert (result_of(row)["width"], result_of(row)["height"]) == a_photo().size
    changed = differs(await darkroom.picture(), a_photo())
    assert changed[12:38, 12:48].all()
    changed[10:40, 10:50] = False
    assert not changed.any(), "outside it is the same to the pixel"
    project = await darkroom.project()
    assert project["generated_image_url"] == row["result_url"]
    assert project["generated_image_urls"] == [row["result_url"]]
    (attempt,) = await darkroom.attempts()
    assert (attempt["provider"], attempt["outcome"], attempt["cost"]) == ("darkroom", "done", 0)
    data = await darkroom.objects().get(row["output_r2_key"])
    assert data
    assert is_marked(data)


async def test_masks_of_any_size_are_merged_and_each_region_gets_its_sample(darkroom: Retouching) -> None:
    samples = [*SAMPLES, {"name": "Tile", "url": data_url(a_brick((60, 120, 200)))}]
    regions = [
        {"sampleIndex": 1, "mask": data_url(a_hole((0, 0, 96, 128), (192, 128)))},
        {"sampleIndex": 0, "mask": data_url(a_hole((30, 0, 48, 32), (48, 32)))},
    ]
    await darkroom.job(samples=samples, maskRegions=regions)
    await darkroom.edited()
    after = np.asarray(await darkroom.picture(), np.float32)
    left, right = after[16:48, 8:40].mean(axis=(0, 1)), after[16:48, 68:88].mean(axis=(0, 1))
    assert left[2] > left[0] + 40
    assert right[0] > right[2] + 40
    assert not differs(await darkroom.picture(), a_photo())[:, 48:60].any()


async def test_an_input_image_stands_above_the_projects_own(darkroom: Retouching) -> None:
    other = a_photo((50, 40), seed=2)
    await darkroom.job(**ASKED, inputImageUrl=data_url(other))
    await darkroom.edited()
    assert (await darkroom.picture()).size == other.size


async def test_what_lies_with_us_is_found_by_its_key_and_by_its_address(darkroom: Retouching) -> None:
    objects = darkroom.objects()
    photo = await objects.put(in_jpeg(a_photo()), "image/jpeg", "jpg")
    mask = await objects.put(as_png(a_hole(HOLE)), "image/png", "png")
    brick = await objects.put(as_png(a_brick()), "image/png", "png")
    samples = [{"name": "Brick", "url": objects.address(brick.key)}]
    await darkroom.job(objects.address(photo.key), samples=samples, mask=mask.key)
    row = await darkroom.edited()
    assert (row["status"], row["error_message"]) == ("completed", None), "no server of ours runs here"


async def test_each_edit_is_added_to_the_project_and_the_same_one_is_not_added_twice(darkroom: Retouching) -> None:
    for colour in ("blue", "green", "blue"):
        await darkroom.job(prompt=f"paint it {colour}", mask=ASKED["mask"])
    row = await darkroom.edited(n=3)
    shown = await darkroom.project()
    assert len(shown["generated_image_urls"]) == 2
    assert shown["generated_image_url"] == shown["generated_image_urls"][-1]
    assert row["result_url"] in shown["generated_image_urls"]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no prompt": ({"prompt": ""}, "The prompt cannot be used: it is empty"),
    "an empty mask": ({"mask": data_url(Image.new("L", (8, 8), 0))}, "The mask leaves nothing to edit"),
    "a mask that is none": ({"mask": "data:image/png;base64,AAAA"}, "The mask cannot be used: Not a PNG"),
    "a mask in bad base64": ({"mask": "data:image/png;base64,%"}, "The mask cannot be read"),
    "a path": ({"mask": "/etc/passwd"}, "The mask must be a data URL"),
    "a file": ({"samples": [{"name": "x", "url": "file:///etc/passwd"}]}, "Sample 1 must be a data URL"),
    "another's network": ({"samples": [{"name": "x", "url": "http://127.0.0.1:1/x.png"}]}, "Sample 1 cannot be fetched"),
    "a key of nothing": ({"inputImageUrl": f"sha256/ab/ab{'0' * 62}.png"}, "is not stored here any more"),
    "a stray sample": ({"maskRegions": [{"sampleIndex": 3, "mask": ASKED["mask"]}]}, "names sample 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
async def test_what_cannot_be_edited_fails_at_once_with_a_sentence_and_costs_nothing(
    openai: Retouching, name: str
) -> None:
    payload, said = BAD[name]
    await openai.job(**payload)
    row = await openai.edited()
    assert row["status"] == "failed"
    assert said in row["error_message"]
    assert (openai.charged(), await openai.attempts()) == (0, [])
    project = await openai.project()
    assert (project["generated_image_url"], project["generated_image_urls"]) == (None, None)


async def test_a_project_without_a_picture_fails_with_a_sentence(darkroom: Retouching) -> None:
    await darkroom.job()
    await darkroom.connection.execute("UPDATE projects SET original_image_url = NULL")
    assert "the project has no original image" in (await darkroom.edited())["error_message"]


async def test_a_free_edit_that_was_interrupted_is_made_again(darkroom: Retouching) -> None:
    id = await darkroom.job(**ASKED)
    await darkroom.connection.execute(OPEN, id, "darkroom")
    assert (await darkroom.edited())["status"] == "completed"
    assert await darkroom.outcomes() == ["done"]


OPEN = """
    INSERT INTO attempts (item_id, step, epoch, provider, worker, seed, cost) VALUES ($1, 'processing', 1, $2, 'dead', 1, 0.25)"""


# OpenAI


async def test_an_edit_is_paid_once_and_its_cost_is_booked(openai: Retouching) -> None:
    await openai.job(**ASKED)
    row = await openai.edited()
    assert (row["status"], openai.charged()) == ("completed", 1)
    (attempt,) = await openai.attempts()
    assert (attempt["provider"], attempt["model"], attempt["outcome"]) == ("openai", "gpt-image-1.5", "done")
    assert Decimal("0.1") < attempt["cost"] < Decimal("0.3"), "by the tokens it counted"
    assert attempt["prompt"].startswith("apply brick in sample 1 to red area")
    assert "Area 1, the red area" in attempt["prompt"]
    assert (await openai.project())["generated_image_url"] == row["result_url"]
    kept = await openai.connection.fetchval("SELECT object_key FROM job_inputs WHERE item_id = $1", row["id"])
    assert await openai.objects().exists(kept), "the mask that was sent, until the job goes"
    changed = differs(await openai.picture(), a_photo())
    assert changed[14:36, 14:46].mean() > 0.9
    changed[10:40, 10:50] = False
    assert not changed.any(), "a mask is only a hint to the model: what it changed outside is put back"


UNKNOWN: list[dict[str, Any]] = [
    {"drop": "after"},
    {"drop": "mid_body"},
    {"status_code": 500, "taken": True},
    {"status_code": 503},
    {"body": "{}"},
]


@pytest.mark.parametrize("scenario", UNKNOWN, ids=str)
async def test_an_unknown_outcome_fails_the_job_and_only_a_person_pays_again(
    openai: Retouching, scenario: dict[str, Any]
) -> None:
    assert openai.standin
    openai.standin.script(on="edit", **scenario)
    id = await openai.job(**ASKED)
    row = await openai.edited()
    assert row["status"] == "failed"
    assert "may have been charged" in row["error_message"]
    (attempt,) = await openai.attempts()
    assert attempt["outcome"] == "unknown"
    assert attempt["cost"] > 0, "it counts as paid, for the budget's sake"
    before = openai.charged()
    await openai.retried(id)
    async with openai.at_work():
        await openai.until("status = 'completed'")
    assert openai.charged() == before + 1
    assert await openai.outcomes() == ["unknown", "done"]
    assert len(openai.standin.log("edit")) == 2


async def test_a_call_that_was_left_open_is_never_made_again_by_itself(openai: Retouching) -> None:
    id = await openai.job(**ASKED)
    await openai.connection.execute(OPEN, id, "openai")
    row = await openai.edited()
    assert row["status"] == "failed"
    assert "may have been charged" in row["error_message"]
    assert (openai.charged(), await openai.outcomes()) == (0, ["unknown"])
    await openai.retried(id)
    async with openai.at_work():
        await openai.until("status = 'completed'")
    assert openai.charged() == 1


async def test_a_call_that_another_editor_left_open_is_not_forgotten(darkroom: Retouching) -> None:
    """Who has taken the key away meanwhile must still learn that it may have been charged."""
    id = await darkroom.job(**ASKED)
    await darkroom.connection.execute(OPEN, id, "openai")
    assert "may have been charged" in (await darkroom.edited())["error_message"]
    assert await darkroom.outcomes() == ["unknown"]


@pytest.mark.parametrize("scenario", [{"code": "moderation_blocked"}, {}], ids=["moderation", "user error"])
async def test_what_openai_refuses_fails_with_its_words_and_is_not_asked_again(
    openai: Retouching, scenario: dict[str, Any]
) -> None:
    assert openai.standin
    openai.standin.always(on="edit", status_code=400, **scenario)
    await openai.job(**ASKED)
    row = await openai.edited()
    assert row["status"] == "failed"
    assert row["error_message"].startswith("OpenAI")
    assert await openai.outcomes() == ["refused" if scenario else "failed"]
    assert [attempt["cost"] for attempt in await openai.attempts()] == [0]
    assert len(openai.standin.log("edit")) == 1


HELD: list[dict[str, Any]] = [
    {"status_code": 401},
    {"status_code": 403},
    {"status_code": 429, "code": "insufficient_quota"},
    {"status_code": 400, "code": "billing_hard_limit_reached"},
]


@pytest.mark.parametrize("scenario", HELD, ids=str)
async def test_trouble_with_the_account_holds_the_lane_and_fails_nothing(
    openai: Retouching, scenario: dict[str, Any]
) -> None:
    assert openai.standin
    openai.standin.always(on="edit", **scenario)
    await openai.job(**ASKED)
    async with openai.at_work():
        await true(openai.connection, "SELECT count(*) = 1 FROM lanes WHERE held_at IS NOT NULL")
    row = await openai.row()
    assert (row["status"], row["retry_count"], row["finished_at"]) == ("pending", 0, None)
    reason = await openai.connection.fetchval("SELECT held_reason FROM lanes WHERE lane = 'openai'")
    assert "GLISK_OPENAI_API_KEY" in reason
    assert "glisk lanes resume openai" in reason
    openai.standin.reset()
    link = Link(openai.url)
    await lanes.resume(link, "openai")
    await openai.connection.execute("UPDATE jobs SET not_before = now()")
    assert (await openai.edited())["status"] == "completed"
    assert openai.charged() == 1
    await link.close()


async def test_a_limit_closes_the_lane_and_uses_no_attempt(openai: Retouching) -> None:
    assert openai.standin
    openai.standin.script(on="edit", status_code=429, retry_after_s=1)
    await openai.job(**ASKED)
    row = await openai.edited()
    assert (row["status"], row["retry_count"], openai.charged()) == ("completed", 0, 1)
    assert await openai.outcomes() == ["failed", "done"]


async def test_what_cannot_be_reached_is_tried_again(openai: Retouching) -> None:
    assert openai.standin
    await openai.job(**ASKED)
    async with openai.at_work(openai.settings(openai_url="http://127.0.0.1:1")):
        await openai.until("status = 'pending' AND error_message IS NOT NULL")
    row = await openai.row()
    assert "cannot be reached" in row["error_message"]
    assert (row["retry_count"], openai.charged()) == (0, 0)
    await openai.connection.execute("UPDATE jobs SET not_before = now()")
    await openai.connection.execute("UPDATE lanes SET open_at = '-infinity'")
    assert (await openai.edited())["status"] == "completed"


async def test_a_spent_budget_holds_the_lane_until_tomorrow(openai: Retouching) -> None:
    settings = openai.settings(daily_budget=Decimal("0.3"))
    for _ in range(2):
        await openai.job(**ASKED)
    async with openai.at_work(settings):
        await true(openai.connection, "SELECT count(*) = 1 FROM lanes WHERE held_until IS NOT NULL")
        await openai.until("status = 'completed'")
    assert openai.charged() == 1
    assert await openai.connection.fetchval("SELECT count(*) FROM jobs WHERE status = 'pending'") == 1


async def test_a_budget_wants_a_price() -> None:
    with pytest.raises(BadSettings, match="GLISK_PRICES"):
        Editing(Settings(openai_api_key=SecretStr(KEY), openai_image_model="gpt-image-9", daily_budget=Decimal(1)))


async def test_an_edit_that_a_person_cancels_is_closed_as_unknown(openai: Retouching) -> None:
    assert openai.standin
    openai.standin.script(on="edit", hold="answer")
    id = await openai.job(**ASKED)
    async with openai.at_work():
        await openai.standin.reached("edit")
        link = Link(openai.url)
        assert await control.cancel(link, JOBS, [id], "anna") == [id]
        await link.close()
    assert await openai.outcomes() == ["unknown"], "the worker has noticed, and written it down before it ended"
    assert openai.charged() == 1
    assert (await openai.row())["error_message"] == "Cancelled by anna"
    assert (await openai.project())["generated_image_url"] is None


async def test_what_nobody_waits_for_is_closed_by_and_by(openai: Retouching) -> None:
    id = await openai.job(**ASKED)
    await openai.connection.execute(OPEN, id, "openai")
    link = Link(openai.url)
    await control.cancel(link, JOBS, [id], "anna")
    processor = Editing(openai.settings())
    (work,) = processor.works(link)
    assert work.every == timedelta(minutes=1)
    await work.run()
    assert await openai.outcomes() == ["unknown"]
    await processor.close()
    await link.close()


def block(shop: Retouching) -> None:
    (shop.data_dir / "objects").rename(shop.data_dir / "away")
    (shop.data_dir / "objects").write_text("in the way")


async def test_a_storage_that_takes_nothing_is_met_before_anything_is_paid(openai: Retouching) -> None:
    async with openai.at_work():
        block(openai)
        await openai.job(**ASKED)
        await openai.until("status = 'pending' AND error_message IS NOT NULL")
    assert openai.charged() == 0
    assert await openai.connection.fetchval("SELECT held_reason FROM lanes WHERE lane = 'openai'")


async def test_a_storage_that_breaks_after_the_payment_fails_the_job_and_says_what_was_paid(openai: Retouching) -> None:
    assert openai.standin
    openai.standin.script(on="edit", hold="answer")
    await openai.job(**ASKED)
    async with openai.at_work():
        await openai.standin.reached("edit")
        block(openai)
        await asyncio.to_thread(openai.standin.release, "answer")
        await openai.until("finished_at IS NOT NULL")
    row = await openai.row()
    assert row["status"] == "failed"
    assert "paid for, and could not be stored" in row["error_message"]
    (attempt,) = await openai.attempts()
    assert (attempt["outcome"], openai.charged()) == ("failed", 1)
    assert attempt["cost"] > 0


async def test_a_picture_that_is_none_is_asked_for_again_and_its_cost_is_booked(openai: Retouching) -> None:
    assert openai.standin
    openai.standin.script(on="edit", body='{"data": [{"b64_json": "AAAA"}]}')
    await openai.job(**ASKED)
    row = await openai.edited()
    assert (row["status"], openai.charged()) == ("completed", 2)
    assert await openai.outcomes() == ["failed", "done"]
    assert all(attempt["cost"] > 0 for attempt in await openai.attempts())


async def test_the_doctor_asks_openai_for_nothing_that_costs(openai: Retouching) -> None:
    assert openai.standin
    found = {check.part: check for check in await examine(openai.settings(), openai.url)}["OpenAI"]
    assert (found.state, found.kind, found.variable) == ("ok", "real", "GLISK_OPENAI_API_KEY")
    assert "gpt-image-1.5" in found.seen
    wrong = openai.settings(openai_image_model="gpt-image-9")
    assert {check.part: check for check in await examine(wrong, openai.url)}["OpenAI"].state == "broken"
    openai.standin.always(on="model", status_code=401)
    refused = {check.part: check for check in await examine(openai.settings(), openai.url)}["OpenAI"]
    assert (refused.state, openai.charged()) == ("broken", 0)
    assert KEY not in repr(refused)
