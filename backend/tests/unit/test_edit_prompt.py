"""What a model is told: the wish as it is, each picture and area once, and every rule."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.editing import prompt, request
from glisk.editing.prompt import CONSTRAINTS, PROJECTS, Area
from glisk.errors import EditUnusable
from glisk.images.colours import COLOR_NAMES
from glisk.images.masks import Box

WISHES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=request.LONGEST_PROMPT)
NAMES = st.lists(st.text(max_size=300), max_size=request.MOST_SAMPLES)
BOX = Box(10, 20, 30, 40)


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, str | None, list[str], list[Area]]:
    samples = draw(NAMES)
    chosen = st.integers(0, len(samples) - 1) if samples else st.none()
    areas = draw(st.lists(st.builds(Area, st.just(BOX), chosen | st.none()), max_size=len(COLOR_NAMES)))
    return draw(WISHES), draw(st.sampled_from([None, *PROJECTS])), samples, areas


@given(asked())
def test_the_wish_stands_first_as_it_is_and_every_rule_is_told(
    asked: tuple[str, str | None, list[str], list[Area]],
) -> None:
    wish, kind, _, _ = asked
    told = prompt.built(*asked)
    assert told.startswith(wish.strip())
    assert all(f"- {rule}" in told for rule in CONSTRAINTS)
    assert [one for one in PROJECTS if PROJECTS[one] in told] == ([kind] if kind else [])
    assert len(told) < 32_000, "as long as a model reads"


@given(asked())
def test_each_sample_and_each_area_is_told_once(asked: tuple[str, str | None, list[str], list[Area]]) -> None:
    _, kind, samples, areas = asked
    told = prompt.built("x", kind, samples, areas)
    assert re.findall(r"^Picture (\d+) is sample (\d+): ", told, re.MULTILINE) == [
        (str(n + 2), str(n + 1)) for n in range(len(samples))
    ]
    lines = re.findall(
        r"^Area (\d+), the (\w+) area, lies [^:\n]*(?:: sample (\d+) goes there)?\.$", told, re.MULTILINE
    )
    assert lines == [
        (str(n + 1), colour, "" if area.sample is None else str(area.sample + 1))
        for n, (area, colour) in enumerate(zip(areas, COLOR_NAMES, strict=False))
    ]
    assert (f"Picture {len(samples) + 2} is a map" in told) == (len(areas) > 1)


def test_the_seeds_own_example() -> None:
    told = prompt.built("apply brick in sample 1 to red area", "existing", ["Brick"], [Area(BOX, 0)])
    assert "Picture 2 is sample 1: Brick." in told
    assert (
        "Area 1, the red area, lies from 10% to 30% of the width and 20% to 40% of the height: sample 1 goes there."
        in told
    )


BAD: dict[str, tuple[str, str]] = {
    "no prompt": ("{}", "it is empty"),
    "an empty prompt": ('{"prompt": "  "}', "it is empty"),
    "no text": ('{"prompt": 7}', "Expected `str"),
    "no JSON": ("{", "cannot be read"),
    "a list": ("[]", "Expected `object`"),
    "a stray sample": ('{"prompt": "x", "samples": [{"url": "a"}], "maskRegions": [{"sampleIndex": 1, "mask": "m"}]}', "names sample 1, and there are 1"),
    "a sample without a place": ('{"prompt": "x", "samples": [{"name": "Brick"}]}', "`url`"),
    "another type": ('{"prompt": "x", "projectType": "garden"}', "projectType is one of"),
    "too long": ('{"prompt": "' + "x" * 4001 + '"}', "4001 characters"),
    "too many samples": ('{"prompt": "x", "samples": [' + ",".join(['{"url": "a"}'] * 11) + "]}", "11 samples"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused_in_a_sentence(name: str) -> None:
    payload, said = BAD[name]
    with pytest.raises(EditUnusable) as refused:
        request.read(payload)
    assert said in refused.value.said


def test_what_is_null_is_not_given() -> None:
    found = request.read('{"prompt": "x", "samples": null, "mask": null, "maskRegions": null, "inputImageUrl": null}')
    assert (found.samples, found.mask, found.mask_regions, found.input_image_url) == (None, None, None, None)
