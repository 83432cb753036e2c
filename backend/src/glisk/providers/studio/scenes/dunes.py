"""Dunes with the wind's handwriting on them."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, land, light, noise, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, horizon = brief.palette, sheet.tall * rng.uniform(0.3, 0.55)
    sky.air(sheet, palette, rng, horizon * 1.15)
    if palette.is_dark:
        sky.stars(sheet, rng, 700, horizon)
    x, size = sheet.wide * rng.uniform(0.2, 0.8), rng.uniform(0.05, 0.15)
    if "night" in palette.tags or "moon" in brief.details:
        sky.moon(sheet, palette, rng, x, horizon * rng.uniform(0.25, 0.6), size * 0.7)
    else:
        sky.sun(sheet, palette, x, horizon * rng.uniform(0.35, 0.9), size)
    if rng.random() < 0.35:
        pyramids(sheet, palette, rng, horizon)
    dunes = int(rng.integers(4, 7))
    for n in range(dunes):
        dune(sheet, palette, rng, n / (dunes - 1), horizon)


def pyramids(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    ink, far = Ink(sheet), colour.mix(palette.far, palette.sky[-1], 0.35)
    for _ in range(int(rng.integers(1, 4))):
        x, high = sheet.wide * rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.24)
        top, foot, edge = horizon + 0.06 - high, horizon + 0.1, x + high * 0.22
        ink.polygon([(x - high * 0.95, foot), (x, top), (edge, foot)], colour.mix(far, palette.glow, 0.25))
        ink.polygon([(edge, foot), (x, top), (x + high * 0.95, foot)], colour.mix(far, palette.near, 0.4))
    sheet.stick(ink)


def dune(sheet: Sheet, palette: Palette, rng: Generator, near: float, horizon: float) -> None:
    """Its crest is a line in the sand: light on this side, shade on that."""
    base = horizon + (sheet.tall * 1.02 - horizon) * near**1.3
    wave = noise.line(rng, sheet.width, (2.4 - near) * sheet.wide, 2, 0.25)
    crest = np.float32(base) - wave * np.float32(0.07 + 0.13 * near)
    part = sheet.under(crest)
    down = part.y - crest[None, :]
    mask = land.below(part, crest)
    part.lay(mask, colour.tint(relief(part, rng, crest, down, near), colour.ramp(sands(palette, near))))
    part.shine(mask * np.exp(-down.clip(0, 9) * 90), palette.glow, 0.35)


def sands(palette: Palette, near: float) -> tuple[Colour, Colour, Colour]:
    """In the light, as it is, in the shade."""
    sand = colour.mix(colour.mix(palette.far, palette.sky[-1], 0.5), palette.far, near)
    return (
        colour.mix(sand, palette.glow, 0.38 - 0.2 * near),
        sand,
        colour.mix(sand, palette.near, 0.35 + 0.4 * near),
    )


def relief(part: Sheet, rng: Generator, crest: Plane, down: Plane, near: float) -> Plane:
    """The lee lies in the shade, its edge running down aslant from every crest; and the wind's ripples."""
    slip = part.x + down * np.float32(0.9) + (noise.cloud(part, rng, 3, 3) - 0.5) * down * np.float32(0.8)
    slope = np.gradient(crest).astype(np.float32) * np.float32(part.unit)
    lee = slope.take((slip * part.unit).astype(np.intp).clip(0, part.width - 1))
    shade = light.between(-0.06, 0.1, lee) * light.between(0.55 + 0.3 * near, 0.0, down)
    ripples = np.sin((down + slip * np.float32(0.18)) * np.float32(520 - 240 * near)) * np.float32(0.035 * near)
    return np.asarray((shade + ripples + down * np.float32(0.35)).clip(0, 1))
