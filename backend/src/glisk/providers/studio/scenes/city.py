"""A city when its lights are on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, land, light, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet


@dataclass(frozen=True, slots=True)
class House:
    left: float
    right: float
    top: float
    foot: float
    wall: Colour


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, has_river = brief.palette, rng.random() < 0.65
    foot = sheet.tall * (rng.uniform(0.66, 0.76) if has_river else 1.02)
    heavens(sheet, palette, rng, foot)
    rows = int(rng.integers(3, 5))
    for n in range(rows):
        street(sheet, palette, rng, (n + 0.4) / rows, foot)
        light.haze(sheet, colour.mix(palette.sky[-1], palette.glow, 0.2), foot - 0.34, foot, 0.4 * (1 - n / rows))
    if has_river:
        land.mirror(sheet, rng, foot, colour.at_lightness(palette.ink, 0.14), 0.2)


def heavens(sheet: Sheet, palette: Palette, rng: Generator, foot: float) -> None:
    """Dusk at the lightest: lit windows want a dark sky."""
    sky.air(sheet, palette, rng, foot)
    if not palette.is_dark:
        deep = np.broadcast_to(light.between(foot * 1.05, -0.1, sheet.y), (sheet.height, sheet.width))
        sheet.lay(deep, colour.at_lightness(palette.sky[0], 0.33), 0.85)
    sky.stars(sheet, rng, 250, foot * 0.6)
    x, y, size = sheet.wide * rng.uniform(0.15, 0.85), foot * rng.uniform(0.18, 0.75), rng.uniform(0.06, 0.2)
    if rng.random() < 0.5:
        sky.sun(sheet, palette, x, y, size)
    else:
        sky.moon(sheet, palette, rng, x, y * 0.6, size * 0.5)
    sky.clouds(sheet, palette, rng, foot, rng.uniform(0.0, 0.6))


def street(sheet: Sheet, palette: Palette, rng: Generator, near: float, foot: float) -> None:
    """One row of houses, from left to right."""
    part = sheet.part(0, foot - 0.95, sheet.wide, foot)
    ink, x = Ink(part), -0.05
    distant = colour.mix(palette.sky[-1], palette.far, 0.6)
    lamp = colour.mix(palette.glow, palette.accents[1], 0.35)
    while x < sheet.wide:
        width, height = rng.uniform(0.04, 0.12) * (0.7 + near * 0.7), skyline(rng, x / sheet.wide, near)
        wall = colour.mix(colour.mix(distant, palette.near, near**0.7), palette.ink, rng.uniform(0, 0.35) * near)
        house(ink, palette, rng, House(x, x + width, foot - height, foot, wall), near, lamp)
        x += width * rng.uniform(0.85, 1.25)
    part.stick(ink)


def skyline(rng: Generator, across: float, near: float) -> float:
    """Higher in the middle, with a tower now and then."""
    middle = 0.65 + 0.35 * float(np.exp(-(((across - 0.5) / 0.3) ** 2)))
    return float(rng.uniform(0.16, 0.4) * middle * (1.35 - near * 0.75) * (1.6 if rng.random() < 0.13 else 1))


def house(ink: Ink, palette: Palette, rng: Generator, one: House, near: float, lamp: Colour) -> None:
    ink.box(one.left, one.top, one.right, one.foot, one.wall)
    side = one.right - (one.right - one.left) * 0.26
    ink.box(side, one.top, one.right, one.foot, colour.mix(one.wall, palette.ink, 0.3))
    roof(ink, rng, one, palette, near)
    if near > 0.15:
        windows(ink, palette, rng, one, near, lamp)


def roof(ink: Ink, rng: Generator, one: House, palette: Palette, near: float) -> None:
    middle, wide = (one.left + one.right) / 2, one.right - one.left
    kind = rng.random()
    if kind < 0.25:
        ink.box(one.left + wide * 0.2, one.top - wide * 0.3, one.right - wide * 0.2, one.top, one.wall)
        ink.line([(middle, one.top - wide * 0.3), (middle, one.top - wide * 1.1)], 0.0025, one.wall)
        ink.disc(middle, one.top - wide * 1.1, 0.003 + 0.002 * near, palette.accents[0])
    elif kind < 0.4:
        ink.polygon([(one.left, one.top), (middle, one.top - wide * 0.9), (one.right, one.top)], one.wall)
    elif kind < 0.5:
        ink.polygon([(one.left, one.top), (one.right, one.top - wide * 0.45), (one.right, one.top)], one.wall)
    elif kind < 0.58:
        ink.oval(middle, one.top, wide / 2, wide * 0.4, one.wall)


def windows(ink: Ink, palette: Palette, rng: Generator, one: House, near: float, lamp: Colour) -> None:
    """Each storey has some; who sits up late, and behind which curtains, is chance."""
    across, size = int(rng.integers(3, 7)), 0.012 + 0.01 * near
    pitch, lit = (one.right - one.left) / across, rng.uniform(0.25, 0.7)
    storeys = int((one.foot - one.top) / size)
    bright, dim = 0.55 * (1 - near), 0.55 * (1 - near) + 0.3
    glass = [colour.mix(tone, one.wall, shade) for tone in (lamp, palette.accent(rng)) for shade in (bright, dim)]
    for storey, column in np.argwhere(rng.random((max(storeys - 1, 0), across)) < lit).tolist():
        left, top = one.left + pitch * (column + 0.25), one.top + size * (storey + 0.6)
        tone = glass[2 * ((storey * 7 + column) % 11 == 0) + ((storey + column) % 3 == 0)]
        ink.box(left, top, left + pitch * 0.5, top + size * 0.45, tone)
