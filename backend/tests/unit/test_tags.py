"""Tags say what can be measured in a picture, and what was asked for; a model's are read however it writes them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from glisk.images.tags import MOST, of_prompt, tags_of
from glisk.providers.port import Order
from glisk.providers.studio.painter import painted
from glisk.providers.taggers import Tagged, tags_in


def plain(colour: tuple[int, int, int], size: tuple[int, int] = (100, 100)) -> bytes:
    Image.new("RGB", size, colour).save(out := io.BytesIO(), "PNG")
    return out.getvalue()


def names(data: bytes, prompt: str = "") -> set[str]:
    return {tag.name for tag in tags_of(data, prompt)}


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((200, 20, 20), "red"), ((230, 120, 20), "orange"), ((240, 220, 40), "yellow"), ((30, 160, 40), "green"),
        ((30, 200, 210), "aqua"), ((30, 60, 220), "blue"), ((140, 40, 200), "purple"), ((240, 120, 190), "pink"),
        ((110, 70, 30), "brown"), ((10, 10, 10), "black"), ((250, 250, 250), "white"), ((128, 128, 128), "grey"),
    ],
)  # fmt: skip
def test_a_colour_is_called_by_its_name(colour: tuple[int, int, int], name: str) -> None:
    assert {name, f"{name}_theme"} <= names(plain(colour))


def test_shape_and_light_are_told() -> None:
    assert {"dark", "monochrome", "lowres"} <= names(plain((5, 5, 5)))
    assert {"bright", "wide_image", "highres"} <= names(plain((255, 250, 250), (1700, 400)))
    assert {"tall_image"} <= names(plain((30, 60, 220), (100, 300)))
    assert not {"dark", "bright", "tall_image", "wide_image", "monochrome"} & names(plain((30, 160, 40), (600, 600)))


def test_words_become_the_tags_that_people_look_for() -> None:
    found = {tag.name: tag.score for tag in of_prompt("Two kittens under the cherry tree, at sundown")}
    assert (found["cat"], found["sunset"], found["cherry"]) == (0.9, 0.9, 0.5)
    assert "the" not in found


@pytest.mark.parametrize(
    ("prompt", "is_said"),
    [
        ("A quiet landscape", True),
        ("Mountains and a lake", True),
        ("A girl by the sea", False),
        ("An idea", False),
        ("Portrait of a cat lady", False),
    ],
)
def test_nobody_is_said_to_be_there_only_if_that_is_certain(prompt: str, is_said: bool) -> None:
    assert ("no_humans" in {tag.name for tag in of_prompt(prompt)}) is is_said


def test_the_same_picture_has_the_same_tags() -> None:
    picture = painted(Order("a lighthouse at night", 7, 128, 96))
    assert tags_of(picture, "a lighthouse at night") == tags_of(picture, "a lighthouse at night")


@given(st.text(max_size=300))
@example("AA𝓐")
@example("ᎠᎡᎢ")
def test_whatever_was_asked_tags_are_tags(prompt: str) -> None:
    found = tags_of(plain((30, 60, 220)), prompt)
    assert 0 < len(found) <= MOST
    assert all(tag.name and not any(sign.isspace() or sign.isupper() for sign in tag.name) for tag in found)
    assert [tag.score for tag in found] == sorted((tag.score for tag in found), reverse=True)
    assert all(0 < tag.score <= 1 for tag in found)


@pytest.mark.parametrize(
    "output",
    [
        {"cat": 0.9, "Night Sky": 0.4}, {"tags": {"cat": 0.9, "night sky": 0.4}}, '{"cat": 0.9, "night sky": 0.4}',
        [{"tag": "cat", "confidence": 0.9}, {"label": "night sky", "score": 0.4}], {"tags": [{"name": "cat", "score": 0.9}, {"name": "night_sky", "score": 0.4}]},
    ],
)  # fmt: skip
def test_a_models_tags_are_read_however_it_writes_them(output: Any) -> None:
    assert tags_in(output) == [{"name": "cat", "score": 0.9}, {"name": "night_sky", "score": 0.4}]
    assert [tag["name"] for tag in tags_in("cat, night sky")] == ["cat", "night_sky"]


@pytest.mark.parametrize("output", [None, 7, "", [], {}, [7], "{"])
def test_what_says_nothing_is_no_tags(output: Any) -> None:
    with pytest.raises(ValueError):
        tags_in(output)


def test_a_picture_is_sent_small() -> None:
    assert len(Tagged(painted(Order("a cat", 7, 1024, 1024)), "").inputs()["image"]) < 250_000
