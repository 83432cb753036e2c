"""Copies are known again, whatever was done to them; other pictures are not, however plain they are."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from PIL import Image

from glisk.images.fingerprint import COARSE_DISTANCE, Fingerprint, fingerprint, is_near
from tests import pictures
from tests.pictures import Colour

SMALL = (256, 256)
# Stripes as fine as the cells, moved by a good part of their width, have changed all there is to see of them.
LOST = {"stripes": {"shifted", "cropped"}}


def of(data: bytes) -> Fingerprint:
    return fingerprint(pictures.decoded(data))


def a_disc(
    x: float, y: float, radius: float, ink: Colour = (40, 60, 200), ground: Colour = (255, 255, 255)
) -> Fingerprint:
    """In shares of the side."""
    pixels = pictures.drawn(
        pictures.plain(512, ground), lambda draw, n: pictures.disc(draw, x * n, y * n, radius * n, ink)
    )
    return fingerprint(pictures.image(pixels))


@pytest.mark.parametrize("kind", pictures.KINDS)
def test_a_copy_is_near_whatever_was_done_to_it(kind: str) -> None:
    for seed in range(2):
        picture = pictures.picture(seed, kind, SMALL)
        known = fingerprint(picture)
        copies = {name: of(alter(picture, default_rng(seed))) for name, alter in pictures.ALTERATIONS.items()}
        lost = {name for name, copy in copies.items() if not (is_near(known, copy) and is_near(copy, known))}
        assert lost <= LOST.get(kind, set())


@pytest.mark.parametrize("kind", pictures.KINDS)
def test_the_same_pixels_in_other_bytes_have_the_same_fingerprint(kind: str) -> None:
    data = pictures.good(5, kind, SMALL)
    assert of(pictures.duplicate_of(data)) == of(data)


@pytest.mark.parametrize("kind", pictures.KINDS)
def test_pictures_of_one_kind_are_not_near(kind: str) -> None:
    prints = [fingerprint(pictures.picture(seed, kind, SMALL)) for seed in range(8)]
    assert not [pair for pair in combinations(prints, 2) if is_near(*pair)]


@pytest.mark.parametrize("seed", range(3))
def test_a_picture_of_full_size_is_known_again(seed: int) -> None:
    data = pictures.good(seed, ["portrait", "circle", "night"][seed % 3])
    assert is_near(of(data), of(pictures.near_duplicate_of(data, seed)))


@pytest.mark.parametrize("radius", [0.01, 0.02, 0.05, 0.15])
def test_a_disc_elsewhere_is_another_picture(radius: float) -> None:
    discs = [a_disc(x / 10, y / 10, radius) for x in range(2, 10, 2) for y in range(2, 10, 2)]
    assert not [pair for pair in combinations(discs, 2) if is_near(*pair)]


def test_a_disc_of_another_size_is_another_picture() -> None:
    discs = [a_disc(0.5, 0.5, 0.02 * 1.5**n) for n in range(7)]
    assert not [pair for pair in combinations(discs, 2) if is_near(*pair)]


def test_a_disc_of_another_colour_is_another_picture() -> None:
    inks = [(220, 40, 40), (40, 140, 40), (40, 60, 220), (20, 20, 20), (230, 190, 40)]
    discs = [a_disc(0.4, 0.6, 0.04, ink) for ink in inks]
    assert not [pair for pair in combinations(discs, 2) if is_near(*pair)]


def test_a_disc_on_another_canvas_is_another_picture() -> None:
    grounds = [(255, 255, 255), (255, 220, 230), (220, 235, 255), (225, 255, 220), (200, 200, 200)]
    discs = [a_disc(0.4, 0.6, 0.04, ground=ground) for ground in grounds]
    assert not [pair for pair in combinations(discs, 2) if is_near(*pair)]


@given(st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.floats(0.008, 0.2), st.tuples(*[st.integers(0, 160)] * 3))
@settings(max_examples=25, deadline=None)
def test_a_disc_is_known_again_wherever_it_is(x: float, y: float, radius: float, ink: Colour) -> None:
    disc = pictures.drawn(
        pictures.plain(256, (250, 250, 250)), lambda draw, n: pictures.disc(draw, x * n, y * n, radius * n, ink)
    )
    for alter in (pictures.recompressed, pictures.relit, pictures.shifted, pictures.cropped):
        assert is_near(fingerprint(pictures.image(disc)), of(alter(pictures.image(disc), default_rng(1))))


@pytest.mark.parametrize("kind", ["landscape", "portrait", "shapes", "pixel_art", "poster"])
def test_a_stamp_in_the_corner_of_a_rich_picture_makes_it_no_other(kind: str) -> None:
    picture = pictures.picture(3, kind, SMALL)
    stamped = picture.copy()
    stamped.paste((250, 250, 250), (232, 240, 248, 250))
    assert is_near(fingerprint(picture), fingerprint(stamped))


@pytest.mark.parametrize("size", [(200, 300), (1000, 1000), (64, 64), (90, 70)])
def test_a_fingerprint_does_not_depend_on_the_shape(size: tuple[int, int]) -> None:
    picture = pictures.picture(1, "shapes", (1024, 1024))
    assert is_near(fingerprint(picture), fingerprint(picture.resize(size, Image.Resampling.LANCZOS)))


@pytest.mark.parametrize("kind", pictures.KINDS)
def test_a_fingerprint_fits_its_columns(kind: str) -> None:
    known = fingerprint(pictures.picture(2, kind, SMALL))
    assert 0 <= known.coarse < 2**63
    assert len(known.fine) == 1024


def test_what_is_near_is_within_the_distance_a_database_looks_in() -> None:
    known = fingerprint(pictures.picture(2, "nebula", SMALL))
    far = Fingerprint(known.coarse ^ (2 ** (COARSE_DISTANCE + 1) - 1), known.fine)
    edge = Fingerprint(known.coarse ^ (2**COARSE_DISTANCE - 1), known.fine)
    assert is_near(known, edge)
    assert not is_near(known, far)
