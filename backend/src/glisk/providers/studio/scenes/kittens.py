"""Kittens among flowers."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import cats, colour, land, light, noise, plants, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.figure import Figure
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, ground = brief.palette, sheet.tall * rng.uniform(0.5, 0.62)
    grass = meadow(sheet, palette, rng, ground)
    flowers(sheet, palette, rng, 16, (ground + 0.02, ground + 0.12), 0.03, grass)
    butterflies(sheet, palette, rng, ground)
    litter(sheet, rng)
    flowers(sheet, palette, rng, 12, (sheet.tall * 1.0, sheet.tall * 1.05), 0.042, grass)
    blades(sheet, rng, grass)


def meadow(sheet: Sheet, palette: Palette, rng: Generator, ground: float) -> Colour:
    """Air, a hill or two, and grass as green as the palette allows."""
    sky.air(sheet, palette, rng, ground)
    x, y = sheet.wide * rng.uniform(0.15, 0.85), ground * rng.uniform(0.2, 0.6)
    sky.sun(sheet, palette, x, y, rng.uniform(0.06, 0.12))
    sky.clouds(sheet, palette, rng, ground, 0.5)
    grass = colour.mix(palette.accents[2], (0.42, 0.66, 0.33), 0.62)
    for n, share in enumerate((0.55, 0.3, 0.0)):
        line = land.hill(sheet, rng, ground - 0.07 + 0.05 * n, 0.07 - 0.02 * n, 1.4)
        part = sheet.under(line)
        tone = colour.flat(colour.mix(grass, palette.sky[-1], share))
        uneven = (noise.cloud(part, rng, 6, 3, stretch=2) - 0.5) * np.float32(0.16)
        dapple = 1.06 - (part.y - line[None, :]) * np.float32(0.5) + uneven
        part.lay(land.below(part, line), tone * dapple.clip(0.5, 1.2))
    return grass


def litter(sheet: Sheet, rng: Generator) -> None:
    """One, two or three of them, no two alike; those behind first."""
    count = int(rng.choice([1, 2, 2, 3, 3]))
    coats, poses = rng.permutation(np.array(cats.coats(), dtype=object)), rng.permutation(len(cats.POSES))
    size = {1: 0.205, 2: 0.142, 3: 0.112}[count] * rng.uniform(0.92, 1.1)
    places = sorted(((n, rng.uniform(0.86, 0.95)) for n in range(count)), key=lambda place: place[1])
    for n, foot in places:
        pose, coat = cats.POSES[int(poses[n])], coats[n]
        down = size * 0.7 if pose is cats.peeking else 0.0
        x = sheet.wide * (0.5 + (n - (count - 1) / 2) * 0.86 / max(count, 2) + rng.uniform(-0.03, 0.03))
        kitten(sheet, rng, x, sheet.tall * foot + down, size, (pose, coat))


def kitten(sheet: Sheet, rng: Generator, x: float, foot: float, size: float, kind: tuple[cats.Pose, cats.Coat]) -> None:
    part = sheet.part(x - size * 2.8, foot - size * 5, x + size * 2.8, foot + size * 0.6)
    shade = np.hypot((part.x - np.float32(x)) / 1.6, (part.y - np.float32(foot)) * 4) / np.float32(size)
    part.shade(1 - light.between(1.1, 0.2, shade) * np.float32(0.4))
    ink = Ink(part)
    figure = Figure(ink, x, foot - size * 3, size, 0.0, int(rng.choice([-1, 1])))
    kind[0](figure, rng, kind[1])
    part.stick(ink, fur=fur(part, rng, foot, size))


def fur(part: Sheet, rng: Generator, foot: float, size: float) -> colour.Plane:
    """Hair for hair, lighter above than below."""
    hair = (noise.cloud(part, rng, 0.9 / size * 12, 2, stretch=0.3) - 0.5) * np.float32(0.12)
    return np.float32(1.05) - light.between(foot - size * 3.4, foot, part.y) * np.float32(0.16) + hair


def flowers(
    sheet: Sheet, palette: Palette, rng: Generator, count: int, feet: tuple[float, float], size: float, grass: Colour
) -> None:
    part = sheet.part(0, feet[0] - size * 6, sheet.wide, feet[1])
    ink = Ink(part)
    for n in rng.permutation(count):
        flower(ink, palette, rng, sheet.wide * (n + rng.uniform(0.1, 0.9)) / count, rng.uniform(*feet), size, grass)
    part.stick(ink)


def flower(ink: Ink, palette: Palette, rng: Generator, x: float, foot: float, size: float, grass: Colour) -> None:
    height, green = size * rng.uniform(1.6, 4), colour.mix(grass, palette.near, rng.uniform(0.2, 0.5))
    way = plants.stem(rng, x, foot, height, rng.normal(0, size * 0.4))
    ink.line(way.astype(np.float32), size * 0.09, green)
    (leaf_x, leaf_y), (top_x, top_y) = way[8].tolist(), way[-1].tolist()
    plants.leaf(ink, leaf_x, leaf_y, -pi / 2 + rng.choice([-1, 1]) * 0.8, size * 1.2, size * 0.5, green, grass)
    tone = colour.mix(palette.accents[int(rng.choice([0, 1, 3, 4]))], palette.paper, rng.uniform(0, 0.5))
    kind = (plants.daisy, plants.daisy, plants.poppy, plants.tulip)[int(rng.integers(4))]
    kind(ink, rng, top_x, top_y, size * rng.uniform(0.7, 1.1), tone, palette.accents[1])


def blades(sheet: Sheet, rng: Generator, grass: Colour) -> None:
    part = sheet.part(0, sheet.tall * 0.8, sheet.wide, sheet.tall)
    ink, greens = Ink(part), colour.ramp((grass, (0.08, 0.25, 0.12)))
    for x in rng.uniform(0, sheet.wide, round(130 * sheet.wide)).tolist():
        tall, lean = rng.uniform(0.03, 0.12), rng.normal(0, 0.3)
        tone = colour.at(greens, rng.uniform(0.1, 0.5))
        plants.petal(ink, x, sheet.tall + 0.01, -pi / 2 + lean, tall, 0.009, tone, 0.3)
    part.stick(ink)


def butterflies(sheet: Sheet, palette: Palette, rng: Generator, ground: float) -> None:
    for _ in range(int(rng.integers(1, 5))):
        x, y, size = sheet.wide * rng.uniform(0.1, 0.9), ground * rng.uniform(0.3, 0.95), rng.uniform(0.014, 0.028)
        part = sheet.part(x - size * 2, y - size * 2, x + size * 2, y + size * 2)
        ink = Ink(part)
        butterfly(ink, palette, rng, x, y, size)
        part.stick(ink)


def butterfly(ink: Ink, palette: Palette, rng: Generator, x: float, y: float, size: float) -> None:
    wing, turn = colour.mix(palette.accent(rng), palette.glow, 0.2), rng.uniform(-0.6, 0.6)
    for angle, share in ((-2.5, 1.0), (-0.64, 1.0), (2.4, 0.75), (0.74, 0.75)):
        plants.petal(ink, x, y, angle + turn, size * 1.5 * share, size * share, wing, 0.65)
        plants.petal(ink, x, y, angle + turn, size * share, size * 0.5 * share, palette.glow, 0.65)
    body_x, body_y = sin(turn) * size * 0.7, cos(turn) * size * 0.7
    ink.line([(x - body_x, y - body_y), (x + body_x, y + body_y)], 0.004, cats.DARK)
