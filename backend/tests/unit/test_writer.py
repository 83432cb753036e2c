"""The embedded writer has words for everything, and the same ones each time; tasks are read, or refused in words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.providers import writer
from glisk.thinking import tasks
from glisk.thinking.tasks import KINDS, NoSuchTask, kind_of, object_in, options_of

SEA = "A quiet landscape at the edge of the sea, soft morning light"


def test_a_title_is_as_on_a_plate_in_a_gallery() -> None:
    found = msgspec.json.decode(writer.title_and_description({"prompt": SEA}))
    assert found["title"] == "Quiet Landscape at the Edge of the Sea"
    assert found["description"].startswith("A quiet landscape at the edge of the sea, with soft morning light. ")


def test_a_prompt_is_expanded_by_what_it_lacks() -> None:
    found = writer.expand_prompt({"prompt": "A cat in soft light.", "style": "woodcut"})
    assert found.startswith("A cat in soft light, ")
    assert "woodcut" in found
    assert writer.expand_prompt({"prompt": "A cat"}) == writer.expand_prompt({"prompt": "A cat"})


def test_results_are_summed_up_by_their_words() -> None:
    results = [
        {"name": "expand_prompt", "result": {"prompt": "A cat in the sun"}},
        {"name": None, "workflow": "r2_image", "result": {"prompt_used": "a dog"}},
        {"name": "complete", "result": None},
    ]
    said = writer.summarize_parents({"results": results})
    assert (
        said
        == "3 jobs have ended. Expand prompt: A cat in the sun. R2 image: A picture of a dog. Complete: It left no words."
    )
    assert writer.summarize_parents({"results": []}) == "There was nothing to sum up."


@given(st.text(min_size=1, max_size=400))
def test_whatever_is_asked_there_are_words_that_can_be_read(prompt: str) -> None:
    data = {"prompt": prompt}
    read = tasks.TitleAndDescription(prompt).read(writer.title_and_description(data))
    assert 0 < len(read["title"]) <= 60
    assert read["description"][0] == read["description"][0].upper()
    assert tasks.ExpandPrompt(prompt).read(writer.expand_prompt(data))["prompt"]
    assert tasks.Complete(prompt).read(writer.complete(data))["text"]


def test_there_is_a_writer_for_every_task() -> None:
    assert set(writer.WRITES) == set(KINDS)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        (None, {}, "There are: title_and_description"),
        ("paint", {}, "no task 'paint'"),
        ("complete", {}, "prompt"),
        ("complete", {"prompt": ""}, "prompt"),
        ("complete", {"prompt": "x", "max_tokens": 0}, "max_tokens"),
        ("expand_prompt", {"prompt": "x" * 20_001}, "prompt"),
        ("title_and_description", {"prompt": 7}, "prompt"),
    ],
)
def test_what_nobody_can_do_is_told(name: str | None, data: dict[str, Any], why: str) -> None:
    with pytest.raises(NoSuchTask, match=why):
        kind_of(name, msgspec.json.encode(data))


def test_a_job_has_the_options_of_its_kind_unless_it_has_its_own() -> None:
    assert options_of("complete") == {"attempts": 3}
    assert options_of("complete", {"attempts": 7, "delay": 5}) == {"attempts": 7, "delay": 5}
    assert options_of(None) == {}


@pytest.mark.parametrize("text", ['{"a": 1}', '```json\n{"a": 1}\n```', 'Here you are: {"a": 1}. Enjoy!'])
def test_an_object_is_found_in_an_answer(text: str) -> None:
    assert object_in(text) == {"a": 1}


@pytest.mark.parametrize("text", ["", "no", "[1]", "{", '{"a": }'])
def test_an_answer_without_one_is_told(text: str) -> None:
    with pytest.raises(ValueError):
        object_in(text)
