"""Masks: read as they are meant, merged to all that any of them would change, as large as the picture."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from glisk.images import masks
from glisk.images.colours import COLOR_NAMES, named
from glisk.images.masks import Box
from tests.editing import a_hole, a_photo

SIDES = st.integers(1, 40)
SIZES = st.tuples(SIDES, SIDES)


def mask_of(places: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Image.Image:
    return Image.fromarray(places.astype(np.uint8) * 255)


@st.composite
def several(draw: st.DrawFn) -> list[Image.Image]:
    """Masks of one size."""
    width, height = draw(SIZES)
    places = arrays.arrays(np.bool_, (height, width))
    return [mask_of(draw(places)) for _ in range(draw(st.integers(1, 4)))]


@given(several())
def test_what_any_mask_would_change_is_changed_and_nothing_else(given: list[Image.Image]) -> None:
    merged = np.asarray(masks.merged(given, given[0].size))
    assert (merged == np.max([np.asarray(mask) for mask in given], axis=0)).all()


@given(several(), st.randoms())
def test_the_order_of_masks_does_not_matter(given: list[Image.Image], chance: st.Random) -> None:  # type: ignore[name-defined] # as hypothesis has it
    shuffled = sorted(given, key=lambda _: chance.random())
    assert masks.merged(given, given[0].size).tobytes() == masks.merged(shuffled, given[0].size).tobytes()


@given(several())
def test_a_mask_is_read_alike_from_transparency_and_from_black_and_white(given: list[Image.Image]) -> None:
    mask = given[0]
    holes = masks.with_holes(mask)
    by_alpha, by_light = masks.read(holes, mask.size), masks.read(mask, mask.size)
    assert by_light.tobytes() == mask.tobytes()
    if not masks.is_empty(mask):  # without a hole it is as good as a black picture
        assert by_alpha.tobytes() == mask.tobytes()
    assert masks.read(mask.convert("RGBA"), mask.size).tobytes() == mask.tobytes(), "as a canvas writes it"


@given(several(), SIZES)
def test_a_mask_has_the_size_of_the_picture_and_only_two_values(
    given: list[Image.Image], size: tuple[int, int]
) -> None:
    read = masks.read(given[0], size)
    assert read.size == size
    assert set(np.unique(np.asarray(read))) <= {0, 255}


@given(SIZES, SIZES)
def test_all_stays_all_and_nothing_stays_nothing_at_any_size(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert masks.read(Image.new("L", one, 255), other).getextrema() == (255, 255)
    assert masks.is_empty(masks.read(Image.new("L", one, 0), other))


@given(several())
def test_an_area_lies_within_its_box(given: list[Image.Image]) -> None:
    box = masks.box(given[0])
    if box is None:
        assert masks.is_empty(given[0])
        return
    width, height = given[0].size
    rows, columns = np.nonzero(np.asarray(given[0]))
    assert 0 <= box.left <= 100 * columns.min() / width
    assert 100 * (columns.max() + 1) / width <= box.right <= 100
    assert 0 <= box.top <= 100 * rows.min() / height
    assert 100 * (rows.max() + 1) / height <= box.bottom <= 100


def test_a_thin_line_in_a_large_mask_is_not_lost() -> None:
    mask = a_hole((100, 0, 102, 400), (400, 400))
    assert not masks.is_empty(masks.read(mask, (100, 100)))


def test_a_box_is_told_in_hundredths() -> None:
    assert masks.box(masks.read(a_hole((10, 10, 50, 30), (100, 50)), (100, 50))) == Box(10, 20, 50, 60)


def test_a_map_shows_each_area_under_its_colour_and_the_rest_as_it_was() -> None:
    base, (red, blue) = a_photo(), list(COLOR_NAMES.values())[:2]
    left, right = (masks.read(a_hole(box), base.size) for box in ((0, 0, 20, 64), (60, 0, 96, 64)))
    sheet = np.asarray(masks.mapped(base, [(left, red), (right, blue)]), np.int16)
    plain = np.asarray(base, np.int16)
    assert (sheet[:, 20:60] == plain[:, 20:60]).all()
    assert sheet[:, :20, 0].mean() > plain[:, :20, 0].mean()
    assert sheet[:, 60:, 2].mean() > plain[:, 60:, 2].mean()


def test_colours_are_heard_in_their_order() -> None:
    assert named("Paint the RED door gray, not violet.") == ["red", "grey", "purple"]
    assert named("Nothing of the kind") == []
