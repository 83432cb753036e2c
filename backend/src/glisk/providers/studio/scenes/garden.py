"""Flowers and leaves on paper, in the manner of a printed herbal."""

from __future__ import annotations

from math import atan2

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise, plants
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, is_night = brief.palette, "night" in brief.palette.tags or rng.random() < 0.25
    ground = colour.at_lightness(palette.ink, 0.29) if is_night else palette.paper
    paper(sheet, palette, rng, ground)
    for depth, count in ((0.72, 9), (0.38, 8), (0.0, 7)):
        ink = Ink(sheet)
        for n in rng.permutation(count):
            x, foot = sheet.wide * (n + rng.uniform(0.1, 0.9)) / count, sheet.tall * rng.uniform(1.0, 1.06)
            height = sheet.tall * rng.uniform(0.3, 0.85 if depth else 0.73)
            plant(ink, palette, rng, plants.stem(rng, x, foot, height, rng.normal(0, 0.07)), depth, ground)
        sheet.stick(ink)


def paper(sheet: Sheet, palette: Palette, rng: Generator, ground: Colour) -> None:
    """Not quite white, with a sun printed on it."""
    other = colour.mix(ground, palette.sky[2], 0.35)
    share = sheet.y / np.float32(sheet.tall) * np.float32(0.8) + noise.cloud(sheet, rng, 2, 4) * np.float32(0.2)
    sheet.cover(colour.tint(share, colour.ramp((ground, other))))
    x, y, radius = sheet.wide * rng.uniform(0.25, 0.75), sheet.tall * rng.uniform(0.22, 0.45), rng.uniform(0.14, 0.3)
    disc = light.disc(sheet, x, y, radius) * (0.88 + 0.12 * noise.cloud(sheet, rng, 60, 2))
    sheet.lay(disc, colour.mix(palette.accent(rng, 2), ground, rng.uniform(0.1, 0.6)), 0.9)
    light.tooth(sheet, rng, 0.012)


def plant(ink: Ink, palette: Palette, rng: Generator, way: plants.Path, depth: float, air: Colour) -> None:
    """Its stem, leaves in pairs or one by one, and a flower; paler the farther it stands."""
    green = colour.mix(palette.accents[int(rng.integers(2, 4))], palette.near, rng.uniform(0.15, 0.6))
    tone = colour.mix(palette.accent(rng), palette.glow, rng.uniform(0, 0.25))
    heart = palette.ink if rng.random() < 0.5 else palette.accents[1]
    if colour.lightness(air) < 0.5:
        green, tone = (colour.at_lightness(part, max(colour.lightness(part), 0.55)) for part in (green, tone))
    green, tone, heart = (colour.mix(part, air, depth) for part in (green, tone, heart))
    ink.line(way.astype(np.float32), rng.uniform(0.003, 0.006), green)
    leaves(ink, rng, way, green, colour.mix(green, air, 0.35))
    x, y = way[-1].tolist()
    plants.FLOWERS[int(rng.integers(5))](ink, rng, x, y, rng.uniform(0.04, 0.095), tone, heart)


def leaves(ink: Ink, rng: Generator, way: plants.Path, green: Colour, vein: Colour) -> None:
    size, slim, is_paired = rng.uniform(0.05, 0.14), rng.uniform(0.22, 0.5), rng.random() < 0.5
    for n in range(2, 20, int(rng.integers(2, 5))):
        (x, y), (ahead_x, ahead_y) = way[n].tolist(), (way[n + 1] - way[n]).tolist()
        up, grown = atan2(ahead_y, ahead_x), size * (1.05 - n / 24)
        for side in (-1, 1) if is_paired else ((-1) ** (n // 2),):
            plants.leaf(ink, x, y, up + side * rng.uniform(0.5, 1.0), grown, grown * slim, green, vein)
