"""Pictures that people give us: upright as they see them, and refused where they are none."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from glisk.images.opened import ORIENTATION, TURNS, as_png, opened
from tests.editing import a_photo, in_jpeg


@pytest.mark.parametrize("orientation", [1, *TURNS])
def test_a_telephones_photo_is_upright(orientation: int) -> None:
    """Turned back, it is the picture that was turned."""
    block = Image.new("RGB", (64, 32), "white")
    block.paste("black", (0, 0, 16, 16))
    held = turned_away(block, orientation)
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    seen = opened(in_jpeg(held, exif=exif, quality=95, xmp=b"<x/>"))
    assert seen.size == block.size
    assert np.abs(np.asarray(seen, np.int16) - np.asarray(block, np.int16)).max() < 60


def turned_away(image: Image.Image, orientation: int) -> Image.Image:
    opposite = {6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}
    turn = opposite.get(orientation, TURNS.get(orientation))
    return image if turn is None else image.transpose(turn)


def test_what_cannot_be_read_beside_the_pixels_does_not_matter() -> None:
    image = a_photo()
    assert opened(in_jpeg(image, exif=b"Exif\0\0MM\0*\xff\xff\xff\xff")).size == image.size


@pytest.mark.parametrize("data", [b"", b"<html>", as_png(a_photo())[:200], b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_is_no_picture_is_a_sentence(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        opened(data)
