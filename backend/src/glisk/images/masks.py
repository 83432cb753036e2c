"""Masks: where a picture is to change. As large as the picture, 255 where it is and 0 where it is not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from PIL import Image, ImageChops, ImageFilter

from glisk.images.colours import Colour
from glisk.images.look import flattened

Mask: TypeAlias = Image.Image  # of mode L
Size: TypeAlias = tuple[int, int]

ALL, NOTHING = 255, 0
LEAST = 64  # of 255: a thin stroke that was scaled down still counts
SOFT = 200  # the longer side, so many times, is how wide an edge fades
VEIL = 0.55  # so much of a colour lies over an area of the map


@dataclass(frozen=True, slots=True)
class Box:
    """Where something lies, in hundredths of the width and of the height."""

    left: int
    top: int
    right: int
    bottom: int


def read(picture: Image.Image, size: Size) -> Mask:
    """Of a picture whose transparent places are to change. In one without any, the bright ones are."""
    wanted = transparency(picture) or flattened(picture).convert("L")
    return resized(wanted, size)


def resized(mask: Mask, size: Size) -> Mask:
    """Still of two values alone."""
    found = mask if mask.size == size else mask.resize(size, Image.Resampling.BOX)
    return found.point([ALL if level >= LEAST else NOTHING for level in range(256)])


def transparency(picture: Image.Image) -> Mask | None:
    if "A" not in picture.getbands() and "transparency" not in picture.info:
        return None
    alpha = picture.convert("RGBA").getchannel("A")
    return None if alpha.getextrema() == (ALL, ALL) else ImageChops.invert(alpha)


def merged(masks: Iterable[Mask], size: Size) -> Mask:
    """What any of them would change."""
    whole = Image.new("L", size, NOTHING)
    for mask in masks:
        whole = ImageChops.lighter(whole, mask)
    return whole


def softened(mask: Mask) -> Mask:
    """With an edge that fades, inwards only."""
    soft = mask.filter(ImageFilter.GaussianBlur(max(mask.size) / SOFT))
    return ImageChops.darker(mask, soft)


def is_empty(mask: Mask) -> bool:
    return mask.getbbox() is None


def box(mask: Mask) -> Box | None:
    """None: nothing is in it."""
    found = mask.getbbox()
    if found is None:
        return None
    (left, top, right, bottom), (width, height) = found, mask.size
    return Box(100 * left // width, 100 * top // height, -(-100 * right // width), -(-100 * bottom // height))


def with_holes(mask: Mask) -> Image.Image:
    """As OpenAI wants it: transparent where the picture is to change."""
    black = Image.new("L", mask.size, NOTHING)
    return Image.merge("RGBA", (black, black, black, ImageChops.invert(mask)))


def mapped(picture: Image.Image, areas: Iterable[tuple[Mask, Colour]]) -> Image.Image:
    """The picture with each area under its own colour, for whoever must tell them apart."""
    sheet = picture.convert("RGB")
    for mask, colour in areas:
        veil = Image.blend(sheet, Image.new("RGB", sheet.size, colour), VEIL)
        sheet = Image.composite(veil, sheet, mask)
    return sheet
