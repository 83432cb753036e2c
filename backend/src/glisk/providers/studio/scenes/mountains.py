"""Ranges behind ranges in the mist, under a sun or a moon."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, land, light, noise, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, horizon = brief.palette, sheet.tall * rng.uniform(0.5, 0.68)
    heavens(sheet, brief, rng, horizon)
    has_lake = "lake" in brief.details or rng.random() < 0.35
    bottom = sheet.tall * rng.uniform(0.66, 0.76) if has_lake else sheet.tall * 1.05
    layers, has_giant = int(rng.integers(4, 8)), "snow" in brief.details or rng.random() < 0.4
    for n in range(layers):
        if has_giant and n == 1:
            giant(sheet, palette, rng, horizon)
        ranges(sheet, palette, rng, n / (layers - 1), horizon, bottom)
    if has_lake:
        land.mirror(sheet, rng, bottom, palette.sky[1])
    front(sheet, brief, rng, has_lake)


def heavens(sheet: Sheet, brief: Brief, rng: Generator, horizon: float) -> None:
    palette, x = brief.palette, sheet.wide * rng.uniform(0.18, 0.82)
    sky.air(sheet, palette, rng, horizon)
    if palette.is_dark:
        sky.stars(sheet, rng, int(rng.integers(200, 900)), horizon)
    if "moon" in brief.details or (palette.is_dark and "night" in palette.tags):
        sky.moon(sheet, palette, rng, x, horizon * rng.uniform(0.2, 0.55), rng.uniform(0.04, 0.1))
    else:
        sky.sun(sheet, palette, x, horizon * rng.uniform(0.3, 0.85), rng.uniform(0.04, 0.14))
    sky.clouds(sheet, palette, rng, horizon, rng.uniform(0.1, 0.9))


def ranges(sheet: Sheet, palette: Palette, rng: Generator, near: float, horizon: float, bottom: float) -> None:
    """One range: its own blue distance, light on one flank, mist at its foot."""
    base = horizon * 0.95 + (bottom - horizon) * near**1.4
    line = land.ridge(sheet, rng, base, rng.uniform(0.12, 0.3) * (1 - 0.45 * near), rng.uniform(1.2, 2.2) + 1.5 * near)
    part = sheet.under(line)
    mask, depth = land.below(part, line), part.y - line[None, :]
    tone = colour.mix(colour.mix(palette.far, palette.sky[-1], 0.45), palette.near, near**1.1)
    relief = flanks(part, rng, line, depth) * np.float32(1 - 0.6 * near)
    part.lay(mask, colour.flat(tone) * (1 + relief))
    mist = mask * light.between(0.02, 0.3, depth)
    part.lay(mist, colour.mix(palette.sky[-1], palette.far, 0.25), 0.8 * (1 - near) ** 0.7)


def giant(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    """One mountain over all others, white where it is high."""
    x, width, height = sheet.wide * rng.uniform(0.25, 0.75), rng.uniform(0.45, 0.75), horizon * rng.uniform(0.6, 0.8)
    rough = noise.line(rng, sheet.width, 5 * sheet.wide, 6, 0.5)
    reach = np.abs(sheet.x[0] - np.float32(x)) / np.float32(width) + rough * np.float32(0.05)
    line = (horizon * 1.02 - height * (1 - reach).clip(0, 2) ** 1.25).astype(np.float32)
    depth = sheet.y - line[None, :]
    mask, relief = land.below(sheet, line), flanks(sheet, rng, line, depth * np.float32(0.6))
    tone = colour.flat(colour.mix(palette.far, palette.near, 0.3))
    sheet.lay(mask, tone * (1 + relief * np.float32(0.9)))
    ragged = sheet.y - line.min() + (noise.cloud(sheet, rng, 9, 4) - 0.5) * np.float32(0.3) - relief * np.float32(0.3)
    snow = mask * light.between(height * 0.44, height * 0.41, ragged)
    white = colour.flat(colour.mix(palette.glow, sky.WHITE, 0.4))
    sheet.lay(snow, white * (0.86 + relief * np.float32(0.5)).clip(0, 1), 0.92)
    sheet.lay(mask * light.between(0.1, height * 0.95, depth), palette.sky[-1], 0.7)


def flanks(sheet: Sheet, rng: Generator, line: Plane, depth: Plane) -> Plane:
    """A crest runs on down the mountain aslant: one side of it lies in the light, the other in shadow."""
    width = max(3, sheet.unit // 90)
    slope = np.convolve(np.gradient(line), np.ones(width) / width, "same").astype(np.float32)
    wander = (noise.cloud(sheet, rng, 7, 4, gain=0.6) - 0.5) * np.float32(0.3)
    at = ((sheet.x + depth * np.float32(0.55) + wander * (0.2 + depth * 2)) * sheet.unit).astype(np.intp)
    lit = slope.take(at % sheet.width) * np.float32(0.28 * sheet.unit)
    return lit.clip(-0.3, 0.34) * light.between(0.4, 0.08, depth)


def front(sheet: Sheet, brief: Brief, rng: Generator, has_lake: bool) -> None:
    if has_lake and rng.random() < 0.4:
        return
    near = colour.mix(brief.palette.near, brief.palette.ink, 0.5)
    line = land.hill(sheet, rng, sheet.tall * rng.uniform(0.9, 1.0), 0.06, 1.5)
    if "pines" in brief.details or rng.random() < 0.6:
        land.pines(sheet, rng, line, rng.uniform(0.1, 0.24), near, rng.uniform(0.25, 0.6))
    sheet.lay(land.below(sheet, line), near)
    if rng.random() < 0.5:
        sky.birds(sheet, rng, sheet.wide * rng.uniform(0.2, 0.8), sheet.tall * rng.uniform(0.15, 0.4), 0.016, near)
