"""The sea at the hour when the light lies on it."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, land, light, noise, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour, Plane
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
        headlands(sheet, palette, rng, horizon)
    water(sheet, palette, rng, horizon, x)
    if rng.random() < 0.4:
        stacks(sheet, palette, rng, horizon)
    company(sheet, brief, rng, horizon)
    if rng.random() < 0.4:
        cliff(sheet, palette, rng)


def luminary(sheet: Sheet, brief: Brief, rng: Generator, x: float, horizon: float) -> None:
    if "moon" in brief.details or "night" in brief.palette.tags:
        sky.moon(sheet, brief.palette, rng, x, horizon * rng.uniform(0.2, 0.6), rng.uniform(0.05, 0.1))
    else:
        sky.sun(sheet, brief.palette, x, horizon * rng.uniform(0.6, 1.02), rng.uniform(0.07, 0.17))


def headlands(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    side = rng.choice([0.0, sheet.wide])
    for n in range(int(rng.integers(1, 4))):
        reach = np.abs(sheet.x[0] - np.float32(side)) / np.float32(rng.uniform(0.35, 0.8))
        crest = (1 - reach).clip(0, 1) ** 0.7 * (0.11 - n * 0.02) * (1.2 + noise.line(rng, sheet.width, 4, 5) * 0.4)
        tone = colour.mix(palette.far, palette.near, 0.2 + 0.25 * n)
        sheet.lay(land.below(sheet, (horizon + 0.002 - crest).astype(np.float32)), tone)


def water(sheet: Sheet, palette: Palette, rng: Generator, horizon: float, x: float) -> None:
    """Waves that grow towards us, the sky in them, and the path of the light."""
    part = sheet.part(0, horizon, sheet.wide, sheet.tall)
    near: Plane = ((part.y - np.float32(horizon)) / np.float32(sheet.tall - horizon)).clip(0, 1)
    swell = waves(part, rng, near)
    table = colour.ramp(
        (palette.sky[2], palette.sky[1], palette.sky[0], colour.mix(palette.sky[0], palette.ink, 0.6)),
        (0, 0.3, 0.75, 1),
    )
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


def stacks(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    """Rocks the coast left behind, standing in their own dark image."""
    for close in sorted(rng.random(int(rng.integers(1, 5)))):
        x, foot, size = sheet.wide * rng.uniform(0.05, 0.95), horizon + 0.02 + 0.2 * close, 0.06 + 0.24 * close
        part = sheet.part(x - size, foot - size * 1.4, x + size, foot + size * 0.7)
        crest = (foot - size * crag(part, rng, x, size)).astype(np.float32)
        tone = colour.mix(palette.far, palette.near, 0.35 + 0.55 * close)
        rock = noise.cloud(part, rng, 3 / size, 4, gain=0.6)
        lit = 1 + (rock - np.roll(rock, 3, axis=1)) * np.float32(3.5)
        part.lay(
            land.below(part, crest) * (part.y < foot), np.array(tone, np.float32)[:, None, None] * lit.clip(0.6, 1.5)
        )
        deep = (part.y > foot) * (part.y < 2 * foot - crest[None, :]) * light.between(foot + size * 0.6, foot, part.y)
        part.lay(deep.astype(np.float32), tone, 0.5)


def crag(part: Sheet, rng: Generator, x: float, size: float) -> Plane:
    """How high it stands above each column: a tower and what has fallen off it."""
    rough = noise.line(rng, part.width, 4, 6, 0.6)
    away = (part.x[0] - np.float32(x)) / np.float32(size)
    tower = np.exp(-((away / np.float32(rng.uniform(0.2, 0.32))) ** 4)) * np.float32(rng.uniform(0.6, 1.2))
    rubble = np.exp(-((away / np.float32(0.55)) ** 2)) * np.float32(0.22)
    return np.asarray((tower * (1 + rough * np.float32(0.22)) + rubble * (1 + rough) - np.float32(0.05)).clip(0, 2))


def cliff(sheet: Sheet, palette: Palette, rng: Generator) -> None:
    """Where we stand: dark, at one side, with grass on it."""
    side, reach, high = rng.choice([0.0, sheet.wide]), rng.uniform(0.35, 0.8), rng.uniform(0.12, 0.4)
    slope = (1 - np.abs(sheet.x[0] - np.float32(side)) / np.float32(reach)).clip(0, 1) ** np.float32(
        rng.uniform(0.5, 1.2)
    )
    grass = np.abs(noise.line(rng, sheet.width, 90 * sheet.wide, 3, 0.7)) * np.float32(0.012)
    rough = noise.line(rng, sheet.width, 3 * sheet.wide, 4) * np.float32(0.03)
    line = np.float32(sheet.tall + 0.02) - (np.float32(high) + rough + grass) * slope
    sheet.lay(land.below(sheet, line.astype(np.float32)), colour.mix(palette.near, palette.ink, 0.5))


def company(sheet: Sheet, brief: Brief, rng: Generator, horizon: float) -> None:
    """Who else is there: a sail, a lighthouse, gulls."""
    dark, ink = colour.mix(brief.palette.near, brief.palette.ink, 0.5), Ink(sheet)
    if "lighthouse" in brief.details or rng.random() < 0.15:
        lighthouse(ink, brief.palette, sheet.wide * rng.choice([0.16, 0.84]), horizon, dark)
    elif "boat" in brief.details or rng.random() < 0.6:
        for place in rng.permutation(4)[: int(rng.integers(1, 4))]:
            x, close = sheet.wide * (0.16 + 0.22 * place + rng.uniform(-0.05, 0.05)), rng.random() ** 2
            sail(ink, brief.palette, rng, x, horizon + 0.01 + 0.2 * close, 0.05 + 0.16 * close)
    sheet.stick(ink)
    if "birds" in brief.details or rng.random() < 0.5:
        sky.birds(sheet, rng, sheet.wide * rng.uniform(0.2, 0.8), horizon * rng.uniform(0.25, 0.7), 0.022, dark)


def sail(ink: Ink, palette: Palette, rng: Generator, x: float, y: float, size: float) -> None:
    """Its hull in the water, its sails in the light, and its broken image below."""
    dark, cloth = palette.ink, colour.mix(palette.paper, palette.accents[int(rng.integers(3))], rng.uniform(0, 0.7))
    ink.polygon(
        [
            (x - size * 0.42, y - size * 0.1),
            (x + size * 0.45, y - size * 0.12),
            (x + size * 0.3, y),
            (x - size * 0.3, y),
        ],
        dark,
    )
    ink.polygon([(x, y - size * 1.1), (x + size * 0.42, y - size * 0.2), (x, y - size * 0.16)], cloth)
    ink.polygon(
        [(x - size * 0.04, y - size), (x - size * 0.34, y - size * 0.2), (x - size * 0.04, y - size * 0.16)],
        colour.mix(cloth, dark, 0.25),
    )
    for n in range(5):
        down, half = y + size * (0.06 + 0.13 * n), size * (0.26 - 0.045 * n)
        ink.box(x - half, down, x + half * rng.uniform(0.3, 1), down + size * 0.035, colour.mix(cloth, dark, 0.35))


def lighthouse(ink: Ink, palette: Palette, x: float, horizon: float, dark: Colour) -> None:
    foot, top = horizon + 0.05, horizon - 0.24
    ink.polygon([(x + 0.32 * (n / 20 - 1), foot - 0.075 * np.sin(n * np.pi / 40) ** 0.8) for n in range(41)], dark)
    for n in range(5):
        upper, lower = top + 0.05 * n, top + 0.05 * (n + 1)
        wide = 0.022 + 0.005 * n
        ink.polygon(
            [(x - wide, upper), (x + wide, upper), (x + wide + 0.005, lower), (x - wide - 0.005, lower)],
            palette.accents[0] if n % 2 else palette.paper,
        )
    ink.box(x - 0.03, top - 0.006, x + 0.03, top, dark)
    ink.box(x - 0.016, top - 0.036, x + 0.016, top - 0.006, palette.glow)
    ink.polygon([(x - 0.026, top - 0.036), (x, top - 0.062), (x + 0.026, top - 0.036)], dark)
