"""Northern lights over a cold country."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, land, light, noise, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, horizon = brief.palette, sheet.tall * rng.uniform(0.62, 0.8)
    night(sheet, palette, rng, horizon)
    low, high = hues(palette, rng)
    for _ in range(int(rng.integers(3, 5))):
        curtain(sheet, rng, horizon, low, high)
    country(sheet, palette, rng, horizon)


def night(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    """Dark in every palette: by day there is nothing to see."""
    low = colour.at_lightness(palette.sky[1 if palette.is_dark else 0], 0.3)
    table = colour.ramp((colour.at_lightness(palette.ink, 0.1), low))
    sheet.cover(np.broadcast_to(light.wash(sheet, table, 0, horizon), sheet.planes.shape))
    sky.stars(sheet, rng, int(rng.integers(900, 2000)), horizon)


def hues(palette: Palette, rng: Generator) -> tuple[Colour, Colour]:
    """One of the palette as clear light, and one far from it on the wheel."""
    low = colour.at_lightness(colour.turned(palette.accent(rng, 4), 0, richer=1.5), 0.82)
    away = rng.choice([-1, 1]) * rng.uniform(60, 120)
    return low, colour.at_lightness(colour.turned(low, away, richer=1.2), 0.66)


def curtain(sheet: Sheet, rng: Generator, horizon: float, low: Colour, high: Colour) -> None:
    """Sharp at its lower hem, fading upwards, in folds."""
    hem = horizon * rng.uniform(0.45, 0.95) + noise.line(rng, sheet.width, 1.6 * sheet.wide, 3, 0.4) * rng.uniform(
        0.06, 0.16
    )
    tall = rng.uniform(0.22, 0.5) * (0.75 + 0.35 * noise.line(rng, sheet.width, 3 * sheet.wide, 2))
    folds = 0.62 + 0.38 * noise.line(rng, sheet.width, 16 * sheet.wide, 4, 0.7)
    bright = (
        (folds * (0.55 + 0.45 * noise.line(rng, sheet.width, 1.5 * sheet.wide, 2))).clip(0.02, 1.2).astype(np.float32)
    )
    up = hem.astype(np.float32)[None, :] - sheet.y
    share = up / np.maximum(tall, 0.08).astype(np.float32)[None, :]
    body = np.where(up > 0, np.exp(-share.clip(0, 9) * 2.6), np.exp(up.clip(-1, 0) * 55)) * bright[None, :]
    tint = light.between(0.05, 0.85, share)
    sheet.shine(body * (1 - tint), low, 1.3)
    sheet.shine(body * tint, high, 2.1)


def country(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    """Dark hills, firs, and often a lake that has it all again."""
    has_lake = rng.random() < 0.6
    base = horizon if has_lake else sheet.tall * 0.92
    far = land.ridge(sheet, rng, base * 0.99, rng.uniform(0.06, 0.16), 2.2)
    sheet.lay(land.below(sheet, far), colour.at_lightness(palette.far, 0.2))
    shore = land.hill(sheet, rng, base, 0.02, 2)
    dark = colour.at_lightness(palette.ink, 0.08)
    land.pines(sheet, rng, shore, rng.uniform(0.05, 0.13), dark, rng.uniform(0.2, 0.5))
    sheet.lay(land.below(sheet, shore), dark)
    if has_lake:
        land.mirror(sheet, rng, horizon + 0.012, dark, 0.12)
    else:
        land.pines(sheet, rng, land.hill(sheet, rng, sheet.tall * 1.02, 0.02, 2), rng.uniform(0.2, 0.34), dark, 0.5)
