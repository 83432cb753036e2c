"""The pictures themselves: each family is worth looking at, and no two of a gallery look alike."""

from __future__ import annotations

from io import BytesIO
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from glisk.providers.port import Order
from glisk.providers.studio import brief, press
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.painter import painted
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.palettes import PALETTES
from glisk.providers.studio.scenes import SCENES
from glisk.providers.studio.sheet import Sheet

GALLERY = ["the sea", "kittens", "nothing in particular"]


def painted_as(family: str, seed: int, size: int = 160) -> Image.Image:
    rng, sheet = brief.chance(family, seed), Sheet(size, size)
    SCENES[family](sheet, Brief(family, PALETTES[seed % len(PALETTES)], frozenset()), rng)
    return Image.open(BytesIO(press.printed(sheet, rng)))


def fingerprint(image: Image.Image) -> NDArray[np.bool_]:
    """Where it gets brighter to the right: a picture that was scaled or recompressed keeps it."""
    small = np.asarray(image.convert("L").resize((9, 8), Image.Resampling.LANCZOS)).astype(int)
    return np.asarray((small[:, 1:] > small[:, :-1]).ravel())


def look(image: Image.Image) -> NDArray[np.int64]:
    return np.asarray(image.resize((16, 16), Image.Resampling.BOX)).astype(np.int64)


@pytest.mark.parametrize("family", SCENES)
@pytest.mark.parametrize("seed", [1, 10])
def test_a_picture_is_neither_blank_nor_noise(family: str, seed: int) -> None:
    pixels = np.asarray(painted_as(family, seed).convert("L")).astype(float)
    values, counts = np.unique(pixels, return_counts=True)
    assert pixels.std() > 14
    assert len(values) > 60
    assert counts.max() < 0.25 * pixels.size
    assert np.abs(np.diff(pixels, axis=1)).mean() < 0.5 * pixels.std()


@pytest.mark.parametrize("family", SCENES)
def test_chance_alone_makes_a_family_various(family: str) -> None:
    images = [painted_as(family, seed, 96) for seed in range(0, 96, 24)]  # all in one palette
    assert all(np.abs(look(one) - look(other)).mean() > 6 for one, other in combinations(images, 2))


@pytest.mark.parametrize("prompt", GALLERY)
def test_no_two_of_a_gallery_look_alike(prompt: str) -> None:
    images = [Image.open(BytesIO(painted(Order(prompt, seed, 96, 96)))) for seed in range(24)]
    for one, other in combinations(images, 2):
        assert (fingerprint(one) != fingerprint(other)).sum() > 2 or np.abs(look(one) - look(other)).mean() > 25


@pytest.mark.parametrize("chosen", PALETTES, ids=lambda chosen: chosen.name)
def test_every_palette_carries_a_picture(chosen: Palette) -> None:
    rng, sheet = brief.chance(chosen.name, 1), Sheet(96, 96)
    SCENES["mountains"](sheet, Brief("mountains", chosen, frozenset()), rng)
    assert sheet.planes.std() > 0.04
    assert 0.05 < sheet.planes.mean() < 0.95
