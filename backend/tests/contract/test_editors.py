"""One suite for everybody who edits: the embedded darkroom, and OpenAI as its stand-in plays it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PIL import Image
from pydantic import SecretStr

from glisk.dev.standins import openai_control
from glisk.dev.standins.control import Control
from glisk.errors import BadOrder, NotAllowed, OutcomeUnknown, ProviderError, RateLimited, Refused
from glisk.images import masks
from glisk.images.opened import as_png, opened
from glisk.providers import editors
from glisk.providers.darkroom import Darkroom, developed
from glisk.providers.editor import Edit, Editor, Region, Sample
from glisk.providers.openai import prices
from glisk.settings import Settings
from tests.editing import KEY, a_brick, a_hole, a_photo

BASE = a_photo()
BRICK, TILE = Sample("Brick", a_brick()), Sample("Tile", a_brick((60, 120, 200)))


@pytest.fixture
def standin() -> Iterator[Control]:
    with openai_control.in_thread() as control:
        yield control


def an_openai(standin: Control, seconds: float = 5, key: str = KEY) -> Editor:
    settings = Settings(openai_api_key=SecretStr(key), openai_url=standin.url)
    return editors.openai(settings, patience=timedelta(seconds=seconds))


@pytest.fixture
async def openai(standin: Control) -> AsyncIterator[Editor]:
    editor = an_openai(standin)
    yield editor
    await editor.close()


@pytest.fixture(params=["darkroom", "openai"])
async def editor(request: pytest.FixtureRequest, standin: Control) -> AsyncIterator[Editor]:
    editor = Darkroom() if request.param == "darkroom" else an_openai(standin)
    yield editor
    await editor.close()


def region(box: tuple[int, int, int, int], sample: int | None = None) -> Region:
    return Region(masks.read(a_hole(box), BASE.size), sample)


def an_edit(*regions: Region, samples: tuple[Sample, ...] = (BRICK,), base: Image.Image = BASE, **more: Any) -> Edit:
    return Edit(more.get("wish", "bricks"), more.get("prompt", "lay bricks"), base, regions, samples)


EDITS = {
    "one region": an_edit(region((10, 10, 50, 40), 0)),
    "two regions": an_edit(region((0, 0, 20, 20), 0), region((40, 30, 90, 60), 1), samples=(BRICK, TILE)),
    "a mask and no sample": an_edit(region((10, 10, 50, 40)), samples=(), wish="paint it blue"),
    "a sample and no mask": an_edit(),
    "nothing but words": an_edit(samples=(), wish="warmer, please"),
    "a tall picture": an_edit(base=a_photo((40, 120))),
}


@pytest.mark.parametrize("name", EDITS)
async def test_every_shape_of_an_edit_comes_back_as_a_picture(editor: Editor, name: str) -> None:
    edited = await editor.edit(EDITS[name])
    assert opened(edited.data).width >= 31
    assert edited.cost is not None
    assert (edited.cost == 0) == (editor.name in editors.FREE)


@pytest.mark.parametrize("size", [(96, 64), (40, 120), (300, 31)], ids=str)
async def test_what_is_outside_of_the_regions_comes_back_to_the_pixel(editor: Editor, size: tuple[int, int]) -> None:
    base = a_photo(size)
    mask = masks.read(a_hole((5, 5, 25, 25), size), size)
    after = opened((await editor.edit(an_edit(Region(mask, 0), base=base))).data)
    assert after.size == base.size
    changed = (np.asarray(after) != np.asarray(base)).any(axis=2)
    assert not changed[np.asarray(mask) == 0].any()
    assert changed[8:22, 8:22].mean() > 0.9


async def test_the_same_edit_is_the_same_picture(editor: Editor) -> None:
    one, other = [await editor.edit(EDITS["two regions"]) for _ in range(2)]
    assert one.data == other.data


# The darkroom


@st.composite
def masked(draw: st.DrawFn) -> Region:
    left, top = draw(st.integers(0, 90)), draw(st.integers(0, 60))
    right, bottom = draw(st.integers(left + 1, 96)), draw(st.integers(top + 1, 64))
    return region((left, top, right, bottom), draw(st.sampled_from([0, 1])))


@given(st.lists(masked(), min_size=1, max_size=3), st.booleans())
@hypothesis_settings(max_examples=40)
def test_the_darkroom_keeps_what_is_outside_of_the_masks_to_the_pixel(regions: list[Region], has_samples: bool) -> None:
    edit = an_edit(*regions, samples=(BRICK, TILE) if has_samples else (), wish="paint it green")
    after, before = np.asarray(opened(developed(edit))), np.asarray(BASE)
    outside = np.asarray(edit.mask()) == 0
    assert (after[outside] == before[outside]).all()
    assert after.shape == before.shape


def test_each_region_gets_its_own_sample() -> None:
    edit = an_edit(region((0, 0, 40, 64), 0), region((56, 0, 96, 64), 1), samples=(BRICK, TILE))
    after = np.asarray(opened(developed(edit)), np.float32)
    left, right = after[20:44, 10:30].mean(axis=(0, 1)), after[20:44, 66:86].mean(axis=(0, 1))
    assert left[0] > left[2] + 40, "brick is red"
    assert right[2] > right[0] + 40, "the tile is blue"


def test_without_samples_it_paints_in_the_colour_that_is_named_last() -> None:
    edit = an_edit(region((0, 0, 96, 64)), samples=(), wish="the red wall in blue, please")
    after = np.asarray(opened(developed(edit)), np.float32)[16:48, 16:80].mean(axis=(0, 1))
    assert after[2] > after[0] + 60


# OpenAI


async def test_openai_is_sent_all_pictures_and_one_mask_in_its_own_form(openai: Editor, standin: Control) -> None:
    edited = await openai.edit(EDITS["two regions"])
    (call,) = standin.log("edit")
    assert (call["status"], call["prompt"]) == (200, "lay bricks")
    assert call["headers"]["content-type"].startswith("multipart/form-data")
    usage = edited.details["usage"]
    assert usage["input_tokens_details"]["image_tokens"] == 4 * 400, "the base, two samples and the map"
    assert edited.details["request_id"].startswith("req_")
    assert edited.cost == prices.usage_in(usage).cost(prices.PRICES["gpt-image-1.5"])  # type: ignore[union-attr] # it is there
    assert standin.charges()["total"] == 1


async def test_what_is_too_large_to_send_is_made_smaller_with_its_mask(openai: Editor, standin: Control) -> None:
    base = a_photo((3000, 20))
    mask = Region(masks.read(a_hole((0, 0, 100, 20), base.size), base.size), 0)
    await openai.edit(an_edit(mask, base=base))
    assert standin.log("edit")[0]["status"] == 200, "else the mask would be refused as of another size"


ANSWERS: list[tuple[dict[str, Any], type[ProviderError], str]] = [
    ({"status_code": 400, "code": "moderation_blocked"}, Refused, "moderation_blocked"),
    ({"status_code": 400, "code": "billing_hard_limit_reached"}, NotAllowed, "billing_hard_limit_reached"),
    ({"status_code": 400}, BadOrder, "invalid_value"),
    ({"status_code": 401}, NotAllowed, "invalid_api_key"),
    ({"status_code": 403}, NotAllowed, "403"),
    ({"status_code": 404}, NotAllowed, "model_not_found"),
    ({"status_code": 413, "body": "<html>", "content_type": "text/html"}, BadOrder, "413"),
    ({"status_code": 429, "retry_after_s": 7}, RateLimited, "429"),
    ({"status_code": 429, "code": "insufficient_quota"}, NotAllowed, "insufficient_quota"),
    ({"status_code": 408, "taken": True, "body": ""}, OutcomeUnknown, "408"),
    ({"status_code": 500}, OutcomeUnknown, "server_error"),
    ({"status_code": 502, "taken": True}, OutcomeUnknown, "502"),
    ({"drop": "before"}, OutcomeUnknown, "network"),
    ({"drop": "after"}, OutcomeUnknown, "network"),
    ({"drop": "after", "reset": True}, OutcomeUnknown, "network"),
    ({"drop": "mid_body"}, OutcomeUnknown, "network"),
    ({"body": "<html>"}, OutcomeUnknown, "unreadable"),
    ({"body": '{"data": []}'}, OutcomeUnknown, "unreadable"),
    ({"body": '{"data": [{"b64_json": "%%%"}]}'}, OutcomeUnknown, "unreadable"),
]


@pytest.mark.parametrize(("scenario", "kind", "code"), ANSWERS, ids=[str(scenario) for scenario, _, _ in ANSWERS])
async def test_every_answer_has_its_meaning_and_is_asked_for_once(
    openai: Editor, standin: Control, scenario: dict[str, Any], kind: type[ProviderError], code: str
) -> None:
    standin.always(on="edit", **scenario)
    with pytest.raises(ProviderError) as raised:
        await openai.edit(EDITS["one region"])
    assert (type(raised.value), raised.value.provider_code) == (kind, code)
    assert not raised.value.is_open
    assert len(standin.log("edit")) == 1, "it is never sent again by itself"
    assert "sk-stand" not in raised.value.said, "no part of a key is shown"
    if kind is OutcomeUnknown:
        assert "may have been charged" in raised.value.said
    if isinstance(raised.value, RateLimited):
        assert raised.value.after == timedelta(seconds=7)


async def test_an_answer_that_is_too_late_may_have_been_charged(standin: Control) -> None:
    standin.always(on="edit", hold="answer")
    editor = an_openai(standin, seconds=0.5)
    with pytest.raises(OutcomeUnknown) as raised:
        await editor.edit(EDITS["one region"])
    assert raised.value.provider_code == "timeout"
    await editor.close()


async def test_what_could_not_be_sent_can_wait() -> None:
    settings = Settings(openai_api_key=SecretStr(KEY), openai_url="http://127.0.0.1:1")
    editor = editors.openai(settings)
    with pytest.raises(RateLimited) as raised:
        await editor.edit(EDITS["one region"])
    assert (raised.value.category, raised.value.provider_code) == ("network", "unreachable")
    await editor.close()


async def test_a_key_that_openai_does_not_know_is_not_shown(standin: Control) -> None:
    editor = an_openai(standin, key="wrong")
    with pytest.raises(NotAllowed, match="401"):
        await editor.edit(EDITS["one region"])
    await editor.close()


def test_prices_are_those_of_the_operator_where_there_are_any() -> None:
    own = Settings(openai_api_key=SecretStr(KEY), prices={"gpt-image-1.5": {"image": Decimal("0.2")}})
    assert editors.estimate(own) == Decimal("0.2")
    assert editors.estimate(Settings()) == 0
    unknown = Settings(openai_api_key=SecretStr(KEY), openai_image_model="gpt-image-9")
    assert editors.estimate(unknown) is None


# The stand-in refuses what OpenAI refuses


def sent(standin: Control, *files: Any, **fields: Any) -> httpx.Response:
    wanted = {"model": "gpt-image-1.5", "prompt": "x"} | fields
    return httpx.post(
        f"{standin.url}/v1/images/edits",
        data={name: value for name, value in wanted.items() if value is not None},
        files=list(files),
        headers={"Authorization": f"Bearer {KEY}"},
    )


def a_file(name: str, image: Image.Image, mime: str = "image/png") -> Any:
    return name, ("x.png", as_png(image), mime)


PHOTO, HOLE = a_file("image[]", BASE), a_file("mask", a_hole((0, 0, 9, 9)))
REFUSALS: list[tuple[list[Any], dict[str, Any], str]] = [
    ([PHOTO], {"response_format": "b64_json"}, "unknown_parameter"),
    ([PHOTO], {"prompt": None}, "missing_required_parameter"),
    ([PHOTO], {"prompt": "x" * 32_001}, "string_above_max_length"),
    ([PHOTO], {"model": "gpt-image-9"}, "model_not_found"),
    ([PHOTO], {"size": "77x77"}, "invalid_value"),
    ([PHOTO], {"model": "gpt-image-1-mini", "input_fidelity": "high"}, "invalid_input_fidelity_model"),
    ([HOLE], {}, "missing_required_parameter"),
    ([a_file("image[]", BASE, "application/octet-stream")], {}, "unsupported_file_mimetype"),
    ([("image[]", ("x.png", b"no picture", "image/png"))], {}, "invalid_image_file"),
    ([PHOTO, a_file("mask", a_hole((0, 0, 9, 9), (10, 10)))], {}, "invalid_mask_image_format"),
    ([PHOTO, a_file("mask", BASE)], {}, "invalid_mask_image_format"),
    ([PHOTO, HOLE, HOLE], {}, "duplicate_parameter"),
    ([PHOTO] * 17, {}, "duplicate_parameter"),
]


@pytest.mark.parametrize(("files", "fields", "code"), REFUSALS)
def test_the_stand_in_refuses_what_openai_refuses(
    standin: Control, files: list[Any], fields: dict[str, Any], code: str
) -> None:
    answer = sent(standin, *files, **fields)
    assert answer.json()["error"]["code"] == code
    assert answer.status_code in (400, 404)
    assert standin.charges()["total"] == 0


def test_the_stand_in_takes_what_openai_takes(standin: Control) -> None:
    answer = sent(standin, PHOTO, a_file("image[]", a_brick()), HOLE, size="auto", quality="low")
    assert answer.status_code == 200
    assert {"created", "data", "usage", "size", "output_format"} <= set(answer.json())
    assert standin.charges()["total"] == 1


def test_the_stand_in_limits_and_says_for_how_long(standin: Control) -> None:
    standin.limit(0.1, bucket="edit")
    first, second = sent(standin, PHOTO), sent(standin, PHOTO)
    assert (first.status_code, second.status_code) == (200, 429)
    assert second.json()["error"]["code"] == "rate_limit_exceeded"
    assert second.headers["retry-after"] == "10"


def test_the_stand_in_answers_a_chat(standin: Control) -> None:
    body = {"model": "gpt-4.1-mini", "messages": [{"role": "user", "content": "Hello"}]}
    answer = httpx.post(f"{standin.url}/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {KEY}"})
    assert answer.json()["choices"][0]["message"]["content"] == "Hello"
