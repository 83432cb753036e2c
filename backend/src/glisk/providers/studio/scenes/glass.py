"""Stained glass with the light behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Sheet

TABLE = 64  # panes before their jitter repeats


@dataclass(frozen=True, slots=True)
class Panes:
    """For every point: how far it is from the edge of its pane, and where that pane's middle lies."""

    gap: Plane
    across: Plane
    down: Plane


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    x, y = sheet.wide * rng.uniform(0.35, 0.65), sheet.tall * rng.uniform(0.35, 0.65)
    half = Sheet(max(2, sheet.width // 2), max(2, sheet.height // 2))
    window = rose(half, rng, x, y) if rng.random() < 0.5 else field(half, rng, x, y)
    hue, gap = (noise.scaled(part.astype(np.float32), (sheet.width, sheet.height)) for part in window)
    sheet.cover(colour.tint(hue, colour.ramp(glazing(brief.palette, rng))))
    lit(sheet, brief.palette, rng, gap, x, y)
    lead(sheet, brief.palette, gap)


def rose(sheet: Sheet, rng: Generator, x: float, y: float) -> tuple[Plane, Plane]:
    """Rings of petals round a boss."""
    petals, rings = int(rng.choice([12, 16, 20, 24])), rng.uniform(5, 9)
    away = light.distance(sheet, x, y)
    angle = (np.arctan2(sheet.y - np.float32(y), sheet.x - np.float32(x)) / np.float32(2 * np.pi) + 0.5) * petals
    panes = voronoi(angle, away**0.8 * np.float32(rings), rng, rng.uniform(0.05, 0.3), petals)
    fold = np.cos(panes.across * np.float32(2 * np.pi / petals * int(rng.integers(3, 9))))
    hue = 0.5 + 0.28 * np.sin(panes.down * np.float32(rng.uniform(1.2, 2.6)) + rng.uniform(0, 6)) + 0.2 * fold
    boss = light.between(0.055, 0.05, away)
    gap = panes.gap * np.float32(0.8) * (1 - boss) + boss * (0.5 - np.abs(away - 0.04) * 20)
    return speckled(hue, panes, rng, 0.12) * (1 - boss) + boss * np.float32(0.97), gap


def field(sheet: Sheet, rng: Generator, x: float, y: float) -> tuple[Plane, Plane]:
    """Shards round a sun, over waves of land."""
    many, lean = rng.uniform(8, 13), rng.uniform(-0.5, 0.5)
    u = (sheet.x + sheet.y * np.float32(lean)) * np.float32(many)
    v = (sheet.y - sheet.x * np.float32(lean)) * np.float32(many * rng.uniform(0.6, 1.0))
    panes = voronoi(u, v, rng, 0.85, TABLE)
    middle_u, middle_v = (x + y * lean) * many, (y - x * lean) * many
    away = np.hypot(panes.across - np.float32(middle_u), panes.down - np.float32(middle_v)) / np.float32(many)
    sun = light.between(0.24, 0.16, away) * np.float32(0.6)
    hills = np.sin(
        panes.down * np.float32(5.5 / many) + np.sin(panes.across * np.float32(6 / many) + rng.uniform(0, 6))
    )
    return speckled(0.42 + 0.3 * hills * (1 - sun) + sun - away * 0.15, panes, rng, 0.2), panes.gap


def voronoi(u: Plane, v: Plane, rng: Generator, jitter: float, around: int) -> Panes:
    """Of nine middles nearby, the nearest two decide. `around`: after so many panes across, the first comes again."""
    right, below = (rng.random((2, TABLE, TABLE), dtype=np.float32) - 0.5) * np.float32(jitter)
    column, row = np.floor(u).astype(np.intp), np.floor(v).astype(np.intp)
    first, second = np.full(u.shape, 99.0, np.float32), np.full(u.shape, 99.0, np.float32)
    across, down = np.zeros_like(first), np.zeros_like(first)
    for place in range(9):
        i, j = column + place % 3 - 1, row + place // 3 - 1
        at = (j % TABLE) * TABLE + (i % around) % TABLE
        x, y = i + np.float32(0.5) + right.ravel()[at], j + np.float32(0.5) + below.ravel()[at]
        reach = np.hypot(u - x, v - y)
        nearer = reach < first
        second = np.where(nearer, first, np.minimum(second, reach))
        across, down, first = np.where(nearer, x, across), np.where(nearer, y, down), np.where(nearer, reach, first)
    return Panes(second - first, across.astype(np.float32), down.astype(np.float32))


def speckled(hue: Plane, panes: Panes, rng: Generator, amount: float) -> Plane:
    """No two panes are from the same melt."""
    name = (panes.across * 37 + panes.down * 91).astype(np.intp) % 1024
    return (
        (hue + (rng.random(1024, dtype=np.float32)[name] - 0.5) * np.float32(amount * 2)).clip(0, 1).astype(np.float32)
    )


def glazing(palette: Palette, rng: Generator) -> tuple[Colour, ...]:
    """Rich colours only; glass is never grey."""
    order = palette.some(rng, 3)
    one, two, three = (colour.turned(tone, 0, richer=1.25) for tone in order)
    lamp = colour.at_lightness(colour.turned(palette.glow, 0, richer=2.0), 0.9)
    return palette.sky[0], one, palette.sky[1], two, colour.turned(palette.sky[2], 0, richer=1.3), three, lamp


def lit(sheet: Sheet, palette: Palette, rng: Generator, gap: Plane, x: float, y: float) -> None:
    """Thick and thin, bubbles and streaks; brightest where the sun stands behind."""
    melt = noise.cloud(sheet, rng, 14, 4, gain=0.6, stretch=0.4)
    sheet.shade((0.72 + 0.36 * melt) * (0.82 + 0.3 * light.between(0.0, 0.45, gap)))
    sheet.shade(0.72 + np.float32(0.5) * light.glow(sheet, x, y, 0.5))
    sheet.shine(light.glow(sheet, x, y, 0.2) ** 2, palette.glow, 0.5)


def lead(sheet: Sheet, palette: Palette, gap: Plane) -> None:
    came = light.between(0.085, 0.065, gap)
    sheet.lay(came, colour.at_lightness(palette.ink, 0.13))
    sheet.shine(light.between(0.04, 0.0, gap), palette.glow, 0.16)
