"""The sheet on which a picture goes to OpenAI: all of the picture is on it, undistorted, and comes back from it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from glisk.providers.openai.canvas import LARGEST, SIZES, canvas_for
from tests.editing import a_photo

SIDES = st.integers(1, 6000)
SIZED = st.tuples(SIDES, SIDES)


@given(SIZED)
def test_the_sheet_has_a_shape_that_is_drawn_and_the_picture_lies_on_it_whole(size: tuple[int, int]) -> None:
    canvas = canvas_for(size)
    left, top, right, bottom = canvas.place
    assert canvas.drawn in SIZES
    assert 0 <= left < right <= canvas.size[0] <= LARGEST
    assert 0 <= top < bottom <= canvas.size[1] <= LARGEST
    wanted = canvas.drawn[0] / canvas.drawn[1]
    assert abs(canvas.size[0] - wanted * canvas.size[1]) <= 2, "to the pixel, or nearly"


@given(st.tuples(st.integers(300, 6000), st.integers(300, 6000)))
def test_the_picture_is_not_distorted_and_fills_the_sheet_one_way(size: tuple[int, int]) -> None:
    canvas = canvas_for(size)
    width, height = canvas.inner
    assert abs(width / height * size[1] / size[0] - 1) < 0.05
    assert abs(canvas.size[0] - width) <= 1 or abs(canvas.size[1] - height) <= 1


@given(st.tuples(st.integers(1, 120), st.integers(1, 120)), st.sampled_from([None, 0, 255]))
@settings(max_examples=50)
def test_a_picture_comes_back_in_its_own_size_whatever_was_drawn(size: tuple[int, int], level: int | None) -> None:
    """And without a change where the mask has none."""
    base, canvas = a_photo(size), canvas_for(size)
    answer = Image.new("RGB", canvas.drawn, "red")
    mask = None if level is None else Image.new("L", size, level)
    found = canvas.taken(answer, base, mask)
    assert mask is None or found.size == size
    assert mask is None or level or (np.asarray(found) == np.asarray(base)).all()


def test_what_was_sent_comes_back_as_it_was() -> None:
    base = Image.linear_gradient("L").convert("RGB").resize((600, 400))
    canvas = canvas_for(base.size)
    found = canvas.taken(canvas.laid(base), base, None)
    assert found.size == base.size
    assert np.abs(np.asarray(found, np.int16) - np.asarray(base, np.int16)).max() <= 2


def test_the_border_is_never_to_change() -> None:
    canvas = canvas_for((400, 100))
    mask = np.asarray(canvas.masked(Image.new("L", (400, 100), 255)))
    left, top, right, bottom = canvas.place
    assert (mask[top:bottom, left:right] == 255).all()
    assert mask.astype(bool).sum() == (right - left) * (bottom - top)
