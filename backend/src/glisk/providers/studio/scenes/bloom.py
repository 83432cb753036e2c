"""One great flower, seen from above: petals in the order in which a sunflower sets its seeds."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise, plants
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet

GOLDEN = pi * (3 - sqrt(5))


@dataclass(frozen=True, slots=True)
class Flower:
    """Where it is, its petals (how many, how set, how slim, where widest), and their colours from heart to rim."""

    x: float
    y: float
    size: float
    petals: int
    turn: float
    slim: float
    tip: float
    rim: Plane
    face: Plane
    gleam: Plane


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    flower = sown(sheet, brief.palette, rng)
    backdrop(sheet, brief.palette, rng, flower)
    foliage(sheet, brief.palette, rng, flower)
    for ring in np.array_split(np.arange(flower.petals)[::-1], 5):
        whorl(sheet, flower, ring.tolist())
    heart(sheet, brief.palette, rng, flower)


def sown(sheet: Sheet, palette: Palette, rng: Generator) -> Flower:
    x, y = sheet.wide * rng.uniform(0.4, 0.6), sheet.tall * rng.uniform(0.4, 0.6)
    turn = GOLDEN if rng.random() < 0.7 else 2 * pi / int(rng.integers(8, 21)) + pi / 40
    size, petals, slim, tip = (
        rng.uniform(0.34, 0.44),
        rng.integers(90, 260),
        rng.uniform(0.28, 0.6),
        rng.uniform(0.55, 0.72),
    )
    return Flower(x, y, size, int(petals), turn, slim, tip, *hues(palette, rng))


def hues(palette: Palette, rng: Generator) -> tuple[Plane, Plane, Plane]:
    """A petal's dark rim, its face, and the light along its middle: each from the heart out."""
    one, two, three = palette.some(rng, 3)
    faces = (palette.glow, colour.mix(palette.key, one, 0.6), palette.key, two, colour.mix(three, palette.near, 0.4))
    stops = (0, 0.18, 0.55, 0.85, 1)
    rims = tuple(colour.mix(face, palette.ink, 0.35) for face in faces)
    gleams = tuple(colour.mix(face, palette.glow, 0.22) for face in faces)
    return colour.ramp(rims, stops), colour.ramp(faces, stops), colour.ramp(gleams, stops)


def backdrop(sheet: Sheet, palette: Palette, rng: Generator, flower: Flower) -> None:
    ends = (palette.sky[2], palette.sky[0]) if rng.random() < 0.6 else (palette.paper, palette.sky[-1])
    away = light.distance(sheet, flower.x, flower.y) * np.float32(1.2)
    uneven = (noise.cloud(sheet, rng, 2, 5) - 0.5) * np.float32(0.35)
    sheet.cover(colour.tint(away + uneven, colour.ramp(ends)))


def foliage(sheet: Sheet, palette: Palette, rng: Generator, flower: Flower) -> None:
    ink, green = Ink(sheet), colour.mix(palette.near, palette.accents[2], 0.35)
    vein = colour.mix(green, palette.glow, 0.3)
    for n in range(int(rng.integers(7, 13))):
        angle, length = n * GOLDEN + rng.uniform(0, 0.4), rng.uniform(0.42, 0.62)
        tone = colour.mix(green, palette.sky[1], rng.uniform(0, 0.5))
        plants.leaf(ink, flower.x, flower.y, angle, length, length * rng.uniform(0.3, 0.5), tone, vein)
    sheet.stick(ink)


def whorl(sheet: Sheet, flower: Flower, ring: list[int]) -> None:
    """A ring of petals, from the outermost in; it throws its shade on the one below."""
    away = flower.size * sqrt(ring[0] / flower.petals)
    reach = away * 1.25 + flower.size * 0.2 + 0.12
    around = sheet.part(flower.x - reach, flower.y - reach, flower.x + reach, flower.y + reach)
    shade = light.distance(around, flower.x + 0.008, flower.y + 0.014)
    around.shade(1 - light.between(away * 1.25 + 0.1, away * 0.5, shade) * np.float32(0.3))
    ink = Ink(around)
    for n in ring:
        petal(ink, flower, n * flower.turn, n / flower.petals)
    around.stick(ink)


def petal(ink: Ink, flower: Flower, angle: float, out: float) -> None:
    away, length = flower.size * sqrt(out) * 0.55, flower.size * (0.22 + 0.42 * out)
    x, y = flower.x + cos(angle) * away, flower.y + sin(angle) * away
    for share, table in ((1.0, flower.rim), (0.94, flower.face), (0.62, flower.gleam)):
        long, wide = length * (0.7 + 0.3 * share), length * flower.slim * share
        plants.petal(ink, x, y, angle, long, wide, colour.at(table, out), flower.tip)


def heart(sheet: Sheet, palette: Palette, rng: Generator, flower: Flower) -> None:
    """Seeds, in the same order."""
    x, y, size = flower.x, flower.y, flower.size * 0.14
    around = sheet.part(x - size * 1.3, y - size * 1.3, x + size * 1.3, y + size * 1.3)
    around.shade(1 - light.disc(around, x, y + size * 0.08, size * 1.05, size * 0.5) * np.float32(0.5))
    ink, tone = Ink(around), palette.accent(rng)
    table = colour.ramp((palette.glow, tone))
    ink.disc(x, y, size * 0.95, colour.mix(tone, palette.ink, 0.65))
    for n in range(90):
        away, angle = size * 0.92 * sqrt(n / 90), n * GOLDEN
        seed = size * (0.045 + 0.03 * n / 90)
        ink.disc(x + cos(angle) * away, y + sin(angle) * away, seed, colour.at(table, n / 90))
    around.stick(ink)
