"""The editor who is always there: no model, no network, no bill. Samples are laid into their areas; the same edit is the same picture."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from hashlib import sha256

import numpy as np
from PIL import Image

from glisk.images.colours import COLOR_NAMES, Colour, named
from glisk.images.masks import ALL, Mask, softened
from glisk.images.opened import as_png
from glisk.providers.editor import Edit, Edited, Region

NAME = "darkroom"
FREE = Decimal(0)
TILES = 4  # of a sample, along the longer side of the picture
SMALLEST = 16  # pixels of a tile
SHADES = (0.5, 1.3)  # how much darker and lighter than its own colour something may look in the picture's light


class Darkroom:
    name = NAME
    model = "darkroom-1"

    def __init__(self, at_once: int = 2) -> None:
        self.pool = ThreadPoolExecutor(at_once, thread_name_prefix=NAME)

    async def edit(self, edit: Edit) -> Edited:
        return Edited(await asyncio.get_running_loop().run_in_executor(self.pool, developed, edit), FREE)

    async def close(self) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)


def developed(edit: Edit) -> bytes:
    """Later regions lie over earlier ones. What no region has stays as it was, to the pixel."""
    sheet = edit.base.convert("RGB")
    regions = edit.regions or (Region(Image.new("L", sheet.size, ALL)),)
    for region in regions:
        laid = lit(cover(edit, region, sheet.size), sheet, region.mask)
        sheet = Image.composite(laid, sheet, softened(region.mask))
    return as_png(sheet)


def cover(edit: Edit, region: Region, size: tuple[int, int]) -> Image.Image:
    """What is laid there: its sample, else the first one, else the colour that the wish names."""
    if not edit.samples:
        return Image.new("RGB", size, wished(edit.wish))
    return tiled(edit.samples[region.sample or 0].picture, size)


def wished(wish: str) -> Colour:
    """The last one named: "the red door in blue". Where none is, any, but the same for the same words."""
    names = named(wish) or [list(COLOR_NAMES)[sha256(wish.encode()).digest()[0] % len(COLOR_NAMES)]]
    return COLOR_NAMES[names[-1]]


def tiled(sample: Image.Image, size: tuple[int, int]) -> Image.Image:
    side = max(SMALLEST, max(size) // TILES)
    tile = sample.convert("RGB")
    tile.thumbnail((side, side))
    sheet = Image.new("RGB", size)
    for left in range(0, size[0], tile.width):
        for top in range(0, size[1], tile.height):
            sheet.paste(tile, (left, top))
    return sheet


def lit(cover: Image.Image, base: Image.Image, mask: Mask) -> Image.Image:
    """In the light of the picture: its shadows fall on what is laid into it."""
    light, inside = np.asarray(base.convert("L"), np.float32), np.asarray(mask) > 0
    usual = max(float(light[inside].mean()) if inside.any() else 0.0, 1.0)
    shade = np.clip(light / usual, *SHADES)[:, :, None]
    return Image.fromarray((np.asarray(cover, np.float32) * shade).clip(0, ALL).astype(np.uint8))
