"""What stands where the sea ends: headlands, rocks, a cliff under our feet, lights and sails."""

from __future__ import annotations

from math import pi, sin

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, land, light, noise
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.figure import Figure
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet


def headlands(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    side = rng.choice([0.0, sheet.wide])
    for n in range(int(rng.integers(1, 4))):
        reach = np.abs(sheet.x[0] - np.float32(side)) / np.float32(rng.uniform(0.35, 0.8))
        crest = (1 - reach).clip(0, 1) ** 0.7 * (0.11 - n * 0.02) * (1.2 + noise.line(rng, sheet.width, 4, 5) * 0.4)
        tone = colour.mix(palette.far, palette.near, 0.2 + 0.25 * n)
        sheet.lay(land.below(sheet, (horizon + 0.002 - crest).astype(np.float32)), tone)


def stacks(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    """Rocks the coast left behind, standing in their own dark image."""
    for close in sorted(rng.random(int(rng.integers(1, 5)))):
        x, foot, size = sheet.wide * rng.uniform(0.05, 0.95), horizon + 0.02 + 0.2 * close, 0.06 + 0.24 * close
        part = sheet.part(x - size, foot - size * 1.4, x + size, foot + size * 0.7)
        crest = (foot - size * crag(part, rng, x, size)).astype(np.float32)
        tone = colour.mix(palette.far, palette.near, 0.35 + 0.55 * close)
        rock = noise.cloud(part, rng, 3 / size, 4, gain=0.6)
        lit = 1 + (rock - np.roll(rock, 3, axis=1)) * np.float32(3.5)
        part.lay(land.below(part, crest) * (part.y < foot), colour.flat(tone) * lit.clip(0.6, 1.5))
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
    away = np.abs(sheet.x[0] - np.float32(side)) / np.float32(reach)
    slope = (1 - away).clip(0, 1) ** np.float32(rng.uniform(0.5, 1.2))
    grass = np.abs(noise.line(rng, sheet.width, 90 * sheet.wide, 3, 0.7)) * np.float32(0.012)
    rough = noise.line(rng, sheet.width, 3 * sheet.wide, 4) * np.float32(0.03)
    line = np.float32(sheet.tall + 0.02) - (np.float32(high) + rough + grass) * slope
    sheet.lay(land.below(sheet, line.astype(np.float32)), colour.mix(palette.near, palette.ink, 0.5))


def sail(ink: Ink, palette: Palette, rng: Generator, x: float, y: float, size: float) -> None:
    """Its hull in the water, its sails in the light, and its broken image below."""
    boat, dark = Figure(ink, x, y, size), palette.ink
    cloth = colour.mix(palette.paper, palette.accent(rng, 3), rng.uniform(0, 0.7))
    boat.polygon([(-0.42, -0.1), (0.45, -0.12), (0.3, 0), (-0.3, 0)], dark)
    boat.polygon([(0, -1.1), (0.42, -0.2), (0, -0.16)], cloth)
    boat.polygon([(-0.04, -1), (-0.34, -0.2), (-0.04, -0.16)], colour.mix(cloth, dark, 0.25))
    for n in range(5):
        down, half, end = 0.06 + 0.13 * n, 0.26 - 0.045 * n, rng.uniform(0.3, 1)
        strip = [(-half, down), (half * end, down), (half * end, down + 0.035), (-half, down + 0.035)]
        boat.polygon(strip, colour.mix(cloth, dark, 0.35))


def lighthouse(ink: Ink, palette: Palette, x: float, horizon: float, dark: Colour) -> None:
    tower = Figure(ink, x, horizon, 1)
    tower.polygon([(0.32 * (n / 20 - 1), 0.05 - 0.075 * sin(n * pi / 40) ** 0.8) for n in range(41)], dark)
    for n in range(5):
        top, wide = -0.24 + 0.05 * n, 0.022 + 0.005 * n
        ring = [(-wide, top), (wide, top), (wide + 0.005, top + 0.05), (-wide - 0.005, top + 0.05)]
        tower.polygon(ring, palette.accents[0] if n % 2 else palette.paper)
    tower.polygon([(-0.03, -0.246), (0.03, -0.246), (0.03, -0.24), (-0.03, -0.24)], dark)
    tower.polygon([(-0.016, -0.276), (0.016, -0.276), (0.016, -0.246), (-0.016, -0.246)], palette.glow)
    tower.polygon([(-0.026, -0.276), (0, -0.302), (0.026, -0.276)], dark)
