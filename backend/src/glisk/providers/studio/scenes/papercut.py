"""Sheets of coloured paper, cut and laid over each other, with the shadow each throws on the next."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, layers = brief.palette, int(rng.integers(7, 11))
    height = rng.choice(np.array([hollow, valley, waves], dtype=object))(sheet, rng)
    tones = colour.ramp(stock(palette, rng))
    back(sheet, palette, rng, colour.at(tones, 0))
    ragged, reach = cuts(sheet, rng, height)
    for n in range(1, layers + 1):
        leaf(sheet, (ragged - np.float32(n / (layers + 0.5))) * reach, colour.at(tones, n / layers))
    light.tooth(sheet, rng, 0.014)


def stock(palette: Palette, rng: Generator) -> tuple[Colour, ...]:
    """From the deepest sheet to the one on top; the light is either down there or up here."""
    one, two = palette.some(rng, 2, 4)
    dark = colour.at_lightness(palette.sky[0], 0.3)
    warm = (palette.glow, palette.accents[1], palette.accents[0], palette.sky[0], dark)
    cool = (colour.at_lightness(palette.sky[0], 0.35), one, two, colour.mix(two, palette.paper, 0.6), palette.paper)
    bright = (palette.sky[-1], palette.sky[2], palette.accent(rng, 4), palette.sky[1], palette.sky[0])
    return (warm, cool, bright)[int(rng.integers(3))]


def back(sheet: Sheet, palette: Palette, rng: Generator, tone: Colour) -> None:
    """The last sheet, and something round on it."""
    sheet.cover(tone)
    x, y = sheet.wide * rng.uniform(0.35, 0.65), sheet.tall * rng.uniform(0.3, 0.55)
    moon = colour.mix(palette.glow, palette.accents[1], 0.2 if colour.lightness(tone) < 0.8 else 0.9)
    sheet.shine(light.glow(sheet, x, y, 0.16), moon, 0.35)
    sheet.lay(light.disc(sheet, x, y, rng.uniform(0.07, 0.13)), moon)


def hollow(sheet: Sheet, rng: Generator) -> Plane:
    """A way in: low in the middle."""
    x, y = sheet.wide * rng.uniform(0.42, 0.58), sheet.tall * rng.uniform(0.38, 0.55)
    away = np.hypot(
        (sheet.x - np.float32(x)) / np.float32(sheet.wide), (sheet.y - np.float32(y)) / np.float32(sheet.tall)
    )
    return noise.spread(
        away * np.float32(1.7) + noise.cloud(sheet, rng, rng.uniform(2.5, 5), 3, gain=0.35) * np.float32(0.85)
    )


def valley(sheet: Sheet, rng: Generator) -> Plane:
    """Hills below, and over the moon a little of the sky's paper."""
    down = sheet.y / np.float32(sheet.tall) - np.float32(0.36)
    rise = np.maximum(down * np.float32(1.7), down * np.float32(-1.0))
    bumps = noise.cloud(sheet, rng, rng.uniform(2, 3.5), 3, gain=0.4, stretch=1.4)
    return noise.spread(rise + bumps * (0.12 + rise * 4).clip(0, 0.6))


def waves(sheet: Sheet, rng: Generator) -> Plane:
    """Diagonal, like water running up a beach."""
    lean = rng.choice([-1, 1]) * rng.uniform(0.4, 1.2)
    slope = (sheet.y / np.float32(sheet.tall) + sheet.x / np.float32(sheet.wide) * np.float32(lean)) * np.float32(0.9)
    return noise.spread(slope + noise.cloud(sheet, rng, rng.uniform(2, 4), 2, gain=0.4) * np.float32(0.55))


def leaf(sheet: Sheet, cut: Plane, tone: Colour) -> None:
    """One sheet: its shadow first, then its face, then the light on its cut edge. `cut` is the way to the edge in pixels."""
    mask = (cut + np.float32(0.5)).clip(0, 1)
    far = max(1, sheet.unit // 80)
    shadow = light.moved(light.blurred(mask, sheet.unit / 55, 8), far, far // 2)
    sheet.shade(1 - shadow * (1 - mask) * np.float32(0.55))
    sheet.lay(mask, tone)
    sheet.shine(mask * light.between(sheet.unit / 350, 0, cut), (1.0, 1.0, 1.0), 0.3)


def cuts(sheet: Sheet, rng: Generator, height: Plane) -> tuple[Plane, Plane]:
    """How high the land is, and how many pixels away one unit of it is: flat land must not have blurred edges."""
    ragged = height + noise.cloud(sheet, rng, 5, 2) * np.float32(0.035)
    down, across = np.gradient(ragged[::4, ::4])
    steep = np.maximum(np.hypot(down, across) / 4, 0.25 / sheet.unit).astype(np.float32)
    return ragged, np.float32(1) / noise.scaled(steep, (sheet.width, sheet.height))
