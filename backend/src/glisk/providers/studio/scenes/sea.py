"""The sea at the hour when the light lies on it."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import coast, colour, light, noise, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, horizon = brief.palette, sheet.tall * rng.uniform(0.38, 0.66)
    x = sheet.wide * rng.uniform(0.2, 0.8)
    sky.air(sheet, palette, rng, horizon)
    if palette.is_dark:
        sky.stars(sheet, rng, int(rng.integers(100, 600)), horizon * 0.8)
    luminary(sheet, brief, rng, x, horizon)
    sky.clouds(sheet, palette, rng, horizon, rng.uniform(0.3, 1.1))
    if not palette.is_dark and rng.random() < 0.45:
        sky.heaps(sheet, palette, rng, horizon, int(rng.integers(3, 8)))
    if rng.random() < 0.6:
        coast.headlands(sheet, palette, rng, horizon)
    water(sheet, palette, rng, horizon, x)
    if rng.random() < 0.4:
        coast.stacks(sheet, palette, rng, horizon)
    company(sheet, brief, rng, horizon)
    if rng.random() < 0.4:
        coast.cliff(sheet, palette, rng)


def luminary(sheet: Sheet, brief: Brief, rng: Generator, x: float, horizon: float) -> None:
    if "moon" in brief.details or "night" in brief.palette.tags:
        sky.moon(sheet, brief.palette, rng, x, horizon * rng.uniform(0.2, 0.6), rng.uniform(0.05, 0.1))
    else:
        sky.sun(sheet, brief.palette, x, horizon * rng.uniform(0.6, 1.02), rng.uniform(0.07, 0.17))


def water(sheet: Sheet, palette: Palette, rng: Generator, horizon: float, x: float) -> None:
    """Waves that grow towards us, the sky in them, and the path of the light."""
    part = sheet.part(0, horizon, sheet.wide, sheet.tall)
    near: Plane = ((part.y - np.float32(horizon)) / np.float32(sheet.tall - horizon)).clip(0, 1)
    swell = waves(part, rng, near)
    deep = colour.mix(palette.sky[0], palette.ink, 0.6)
    table = colour.ramp((palette.sky[2], palette.sky[1], palette.sky[0], deep), (0, 0.3, 0.75, 1))
    part.cover(colour.tint(near**0.6 * 0.85 + (swell - 0.5) * (0.25 + 0.35 * near), table))
    crests = light.between(0.72, 0.95, swell) * (0.25 + 0.4 * near)
    part.lay(crests, colour.mix(palette.sky[-1], palette.glow, 0.3), 0.55)
    width = 0.035 + 0.2 * near + 0.1 * (swell - 0.5)
    path = np.exp(-(((part.x - np.float32(x)) / width) ** 2)) * light.between(0.38, 0.72, swell)
    part.shine(path * (1 - 0.45 * near), palette.glow, 0.95)
    part.shine(np.exp(-near * 22) * np.exp(-((part.x - np.float32(x)) ** 2) * 6), palette.glow, 0.5)


def waves(part: Sheet, rng: Generator, near: Plane) -> Plane:
    """A plane of ripples seen at a low angle: far rows are narrow and quick, near ones broad."""
    square = noise.tile(rng, 512, 8, 4, 0.62)
    far = np.float32(1) / (near + np.float32(0.05))
    across = (part.x - np.float32(part.wide / 2)) * (far * np.float32(0.25) + np.float32(0.12))
    swell = noise.looked_up(square, far * np.float32(0.45), across)
    chop = noise.looked_up(square, far * np.float32(1.9) + swell * np.float32(0.06), across * np.float32(3.3) + 0.37)
    return noise.spread(swell * np.float32(0.6) + noise.ridged(chop) * np.float32(0.4))


def company(sheet: Sheet, brief: Brief, rng: Generator, horizon: float) -> None:
    """Who else is there: a sail, a lighthouse, gulls."""
    dark, ink = colour.mix(brief.palette.near, brief.palette.ink, 0.5), Ink(sheet)
    if "lighthouse" in brief.details or rng.random() < 0.15:
        coast.lighthouse(ink, brief.palette, sheet.wide * rng.choice([0.16, 0.84]), horizon, dark)
    elif "boat" in brief.details or rng.random() < 0.6:
        for place in rng.permutation(4)[: int(rng.integers(1, 4))]:
            x, close = sheet.wide * (0.16 + 0.22 * place + rng.uniform(-0.05, 0.05)), rng.random() ** 2
            coast.sail(ink, brief.palette, rng, x, horizon + 0.01 + 0.2 * close, 0.05 + 0.16 * close)
    sheet.stick(ink)
    if "birds" in brief.details or rng.random() < 0.5:
        sky.birds(sheet, rng, sheet.wide * rng.uniform(0.2, 0.8), horizon * rng.uniform(0.25, 0.7), 0.022, dark)
