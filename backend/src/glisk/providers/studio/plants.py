"""What grows: petals, leaves, stems, and flowers of several kinds, each a few flat shapes."""

from __future__ import annotations

from math import cos, log, pi, sin
from typing import TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from glisk.providers.studio import colour
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.sheet import Ink

Path: TypeAlias = NDArray[np.float64]
ALONG = (1 - np.cos(np.linspace(0, pi, 18))) / 2  # closer together where an end is round


def petal(
    ink: Ink, x: float, y: float, angle: float, length: float, width: float, tone: Colour, tip: float = 0.6
) -> None:
    """Widest at `tip` of its length."""
    bulge = np.sin(ALONG ** (log(0.5) / log(tip)) * pi).clip(0, 1) ** 0.72 * width / 2
    outline(ink, x, y, angle, ALONG * length, bulge, tone)


def outline(ink: Ink, x: float, y: float, angle: float, along: Path, half: Path, tone: Colour) -> None:
    """A shape with two equal sides, turned and put in its place."""
    forth, aside = np.concatenate([along, along[::-1]]), np.concatenate([half, -half[::-1]])
    points = np.stack(
        [x + forth * cos(angle) - aside * sin(angle), y + forth * sin(angle) + aside * cos(angle)], axis=1
    )
    ink.polygon(points.astype(np.float32), tone)


def leaf(ink: Ink, x: float, y: float, angle: float, length: float, width: float, tone: Colour, vein: Colour) -> None:
    petal(ink, x, y, angle, length, width, tone, 0.42)
    ink.line([(x, y), (x + cos(angle) * length * 0.9, y + sin(angle) * length * 0.9)], 0.0022, vein)


def stem(rng: Generator, x: float, foot: float, height: float, sway: float) -> Path:
    """From the foot up, bending as it goes."""
    rise = np.linspace(0, 1, 24)
    bend = sway * rise**1.8 + 0.018 * np.sin(rise * rng.uniform(3, 6) + rng.uniform(0, 6)) * rise
    return np.stack([x + bend, foot - height * rise], axis=1)


def daisy(ink: Ink, rng: Generator, x: float, y: float, size: float, tone: Colour, heart: Colour) -> None:
    count, turn = int(rng.integers(9, 17)), rng.uniform(0, 6)
    for ring, shade in ((1.0, colour.mix(tone, (0.1, 0.05, 0.1), 0.14)), (0.92, tone)):
        for n in range(count):
            angle = turn + (n + (ring < 1) * 0.5) * 2 * pi / count
            petal(ink, x, y, angle, size * ring, size * 4.2 / count, shade, 0.68)
    ink.disc(x, y, size * 0.3, colour.mix(heart, (0.1, 0.05, 0.1), 0.25))
    ink.disc(x - size * 0.03, y - size * 0.03, size * 0.25, heart)


def poppy(ink: Ink, rng: Generator, x: float, y: float, size: float, tone: Colour, heart: Colour) -> None:
    turn, dark = rng.uniform(0, 6), colour.mix(tone, (0.1, 0.0, 0.1), 0.22)
    for n, shade in enumerate((dark, dark, tone, tone, colour.mix(tone, (1, 1, 1), 0.12))):
        petal(ink, x, y, turn + n * 2 * pi * 2 / 5, size, size * 1.35, shade, 0.66)
    ink.disc(x, y, size * 0.24, heart)
    for n in range(10):
        ink.disc(x + cos(n * pi / 5) * size * 0.33, y + sin(n * pi / 5) * size * 0.33, size * 0.035, heart)


def tulip(ink: Ink, rng: Generator, x: float, y: float, size: float, tone: Colour, heart: Colour) -> None:
    dark = colour.mix(tone, (0.1, 0.0, 0.1), 0.2)
    shades = (dark, dark, colour.mix(tone, dark, 0.4), tone, colour.mix(tone, (1, 1, 1), 0.15))
    for lean, shade in zip((-0.42, 0.42, -0.2, 0.2, 0.0), shades, strict=True):
        petal(ink, x, y + size * 0.5, -pi / 2 + lean, size * 1.45, size * 0.62, shade, 0.45)


def umbel(ink: Ink, rng: Generator, x: float, y: float, size: float, tone: Colour, heart: Colour) -> None:
    """Many small ones on rays, like cow parsley."""
    for angle in np.linspace(-pi * 0.92, -pi * 0.08, 11):
        reach = size * rng.uniform(0.85, 1.2)
        end_x, end_y = x + cos(angle) * reach, y + sin(angle) * reach * 0.8
        ink.line([(x, y), (end_x, end_y)], 0.0022, heart)
        for _ in range(5):
            right, down = rng.normal(0, size * 0.09), rng.normal(0, size * 0.07)
            ink.disc(end_x + right, end_y + down, size * rng.uniform(0.04, 0.08), tone)


def bells(ink: Ink, rng: Generator, x: float, y: float, size: float, tone: Colour, heart: Colour) -> None:
    """A spike of buds, like lavender or foxglove."""
    for n in range(13):
        up, side = size * (1.3 - 0.17 * n), (-1) ** n
        long, wide, bud = size * (0.2 + 0.022 * n), size * (0.14 + 0.014 * n), colour.mix(tone, heart, (n % 3) * 0.14)
        petal(ink, x, y - up + size * 0.4, pi / 2 - side * 0.9, long, wide, bud, 0.6)


FLOWERS = (daisy, poppy, tulip, umbel, bells)
