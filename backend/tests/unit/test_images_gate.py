"""What the gate lets through and what it does not, over every kind of picture; and that nothing it is given upsets it."""

from __future__ import annotations

import io
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from PIL import Image, ImageDraw, ImageFilter

from glisk.images.fingerprint import is_near
from glisk.images.gate import Judgement, judge
from glisk.images.opened import MOST_PIXELS
from tests import pictures

SIDE = 256  # where nothing depends on the size, small is as good
SMALL = (SIDE, SIDE)


def judged(picture: Image.Image, format: str = "png", **options: object) -> Judgement:
    file = io.BytesIO()
    picture.save(file, format, **options)
    return judge(file.getvalue(), *picture.size)


def canvas(colour: pictures.Colour = pictures.WHITE, size: tuple[int, int] = SMALL) -> Image.Image:
    return Image.new("RGB", size, colour)


def test_of_two_hundred_good_and_forty_five_bad_all_good_and_no_bad_pass_and_no_two_are_alike() -> None:
    kinds = list(pictures.KINDS)
    good = [
        judge(pictures.good(n // len(kinds), kinds[n % len(kinds)], SMALL, pictures.any_format(n)), *SMALL)
        for n in range(200)
    ]
    bad = [judge(build(seed, SMALL), *SMALL) for build in pictures.BAD.values() for seed in range(5)]
    assert [judgement for judgement in good if judgement.verdict != "pass"] == []
    assert (len(bad), [judgement for judgement in bad if judgement.verdict == "pass"]) == (45, [])
    prints = [judgement.fingerprint for judgement in good if judgement.fingerprint]
    assert (len(prints), [pair for pair in combinations(prints, 2) if is_near(*pair)]) == (200, [])


@pytest.mark.parametrize(
    ("kind", "format"),
    [("portrait", "png"), ("circle", "webp"), ("line", "jpeg"), ("night", "jpeg"), ("night", "webp"), ("fog", "webp")],
)
def test_a_good_picture_of_full_size_passes(kind: str, format: str) -> None:
    assert judge(pictures.good(7, kind, format=format), 1024, 1024).verdict == "pass"


@pytest.mark.parametrize("name", ["black", "blank", "noise", "truncated", "html", "bomb"])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_certainly_broken_is_drawn_again(name: str, seed: int) -> None:
    assert judge(pictures.BAD[name](seed, SMALL), *SMALL).verdict == "regenerate"


@pytest.mark.parametrize("name", ["wrong_size", "dim"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_only_suspicious_is_left_to_a_person(name: str, seed: int) -> None:
    judgement = judge(pictures.BAD[name](seed, SMALL), *SMALL)
    assert judgement.verdict == "quarantine"
    assert judgement.fingerprint


@pytest.mark.parametrize("sigma", [1, 2, 4, 6, 8, 10, 12, 25, 60])
@pytest.mark.parametrize("format", ["png", "jpeg", "webp"])
def test_grey_does_not_pass_however_noisy(sigma: float, format: str) -> None:
    noisy = np.full((SIDE, SIDE, 3), 128, np.float32) + default_rng(0).normal(0, sigma, (SIDE, SIDE, 1)).astype(
        np.float32
    )
    assert judged(pictures.image(noisy), format).verdict != "pass"


def test_noise_that_was_scaled_is_left_to_a_person() -> None:
    coarse = pictures.decoded(pictures.noise(0, SMALL)).resize((512, 512), Image.Resampling.NEAREST)
    assert judged(coarse).verdict == "quarantine"


def test_one_star_is_a_picture() -> None:
    sky = canvas((3, 3, 8), (1024, 1024))
    ImageDraw.Draw(sky).rectangle((700, 300, 701, 301), fill=(220, 220, 200))
    assert judged(sky).verdict == "pass"


def test_one_pale_hair_line_is_a_picture() -> None:
    paper = canvas(size=(1024, 1024))
    ImageDraw.Draw(paper).line((100, 200, 900, 640), fill=(205, 205, 205), width=1)
    assert judged(paper, "webp", quality=80).verdict == "pass"


def test_colours_of_one_lightness_are_a_picture() -> None:
    both = canvas((170, 90, 90))
    both.paste((60, 147, 60), (0, 0, SIDE // 2, SIDE))
    assert judged(both).verdict == "pass"


@pytest.mark.parametrize("sigma", [10, 20, 30])
def test_fog_under_film_grain_is_a_picture(sigma: float) -> None:
    fog = pictures.pixels(pictures.picture(1, "fog", (512, 512)))
    grain = default_rng(1).normal(0, sigma, (512, 512, 1)).astype(np.float32)
    assert judged(pictures.image(fog + grain), "jpeg", quality=85).verdict == "pass"


@pytest.mark.parametrize("period", [2, 3, 4, 5, 8])
def test_a_fine_pattern_is_a_picture(period: int) -> None:
    y, x = np.mgrid[0:512, 0:512]
    tile = default_rng(period).uniform(0, 255, (period, period, 1)).astype(np.float32)
    assert judged(pictures.image(np.repeat(tile[y % period, x % period], 3, axis=2))).verdict == "pass"


def test_a_sky_of_many_single_pixels_is_a_picture() -> None:
    stars = (default_rng(3).uniform(0, 1, (512, 512, 1)) > 0.99) * np.full(3, 230, np.float32)
    assert judged(pictures.image(stars.astype(np.float32))).verdict == "pass"


def test_white_on_nothing_is_seen_as_well_as_black_on_nothing() -> None:
    for ink in (pictures.WHITE, pictures.BLACK):
        layer = Image.new("RGBA", SMALL, (*ink, 0))
        layer.paste((*ink, 255), (40, 40, 90, 90))
        assert judged(layer).verdict == "pass"
    assert judged(Image.new("RGBA", SMALL, (9, 200, 30, 0))).verdict == "regenerate"


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
def test_every_mode_of_png_can_be_judged(mode: str) -> None:
    picture = pictures.picture(2, "shapes", SMALL)
    if mode == "I;16":
        picture = Image.fromarray(np.asarray(picture.convert("L")).astype(np.uint16) << 8)
    else:
        picture = picture.convert(mode)
    assert judged(picture).verdict == "pass"


def test_a_jpeg_for_print_can_be_judged() -> None:
    assert judged(pictures.picture(2, "shapes", SMALL).convert("CMYK"), "jpeg").verdict == "pass"


@pytest.mark.parametrize("format", ["png", "webp"])
def test_a_picture_that_moves_is_left_to_a_person(format: str) -> None:
    frames = [pictures.picture(seed, "shapes", SMALL) for seed in range(2)]
    assert judged(frames[0], format, save_all=True, append_images=frames[1:]).verdict == "quarantine"


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (200, 3), (63, 65)])
def test_a_small_picture_can_be_judged(size: tuple[int, int]) -> None:
    assert judged(canvas(size=size)).verdict == "regenerate"


def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    judgement = judge(pictures.bomb(1, SMALL), *SMALL)
    assert judgement == Judgement("regenerate", "The picture would have 50000 × 50000 pixels.")
    assert MOST_PIXELS < 50_000**2


def test_a_second_header_with_another_size_is_refused() -> None:
    png, jpeg = (pictures.good(1, "circle", SMALL, format) for format in ("png", "jpeg"))
    large = pictures.bomb(1, SMALL)[8:33]
    frame = jpeg.index(b"\xff\xc0")
    assert judge(png[:33] + large + png[33:], *SMALL).reason == "The PNG has no header, more than one, or no pixels."
    assert judge(jpeg[:frame] + jpeg[frame : frame + 19] + jpeg[frame:], *SMALL).verdict == "regenerate"


def test_a_reason_says_what_was_seen() -> None:
    assert judge(pictures.html(0), 1, 1).reason == "Not a PNG, JPEG or WebP: it begins with b'<!DOCTYPE html><'."
    assert judged(canvas((18, 52, 86))).reason == "The picture is blank: all of it is #123456."
    wide = pictures.good(1, "nebula", (SIDE, 128))
    assert judge(wide, *SMALL).reason == "The picture is 256 × 128, not 256 × 256 as asked."


def test_a_png_with_one_wrong_bit_is_drawn_again() -> None:
    data = bytearray(pictures.good(1, "nebula", SMALL, "png"))
    data[len(data) // 2] ^= 4
    assert judge(bytes(data), *SMALL).reason == "A chunk of the PNG has a wrong checksum."


@pytest.mark.parametrize("format", ["png", "jpeg", "webp"])
def test_metadata_neither_counts_nor_upsets(format: str) -> None:
    sharp = pictures.picture(4, "shapes", SMALL).filter(ImageFilter.SHARPEN)
    odd = judged(sharp, format, exif=b"Exif\0\0II*\0\xff\xff\xff\xff", xmp=b"<")
    assert odd == judged(sharp, format)


TINY = [pictures.good(seed, "shapes", (40, 30), format) for seed in range(2) for format in ("png", "jpeg", "webp")]


@given(st.sampled_from(TINY), st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=8), st.integers(0))
def test_nothing_that_a_provider_sends_upsets_the_gate(data: bytes, changes: list[tuple[int, int]], end: int) -> None:
    sent = bytearray(data)
    for place, value in changes:
        sent[place % len(sent)] = value
    judgement = judge(bytes(sent[: end % len(sent) + 1]), 40, 30)
    assert judgement.reason.endswith(".")
