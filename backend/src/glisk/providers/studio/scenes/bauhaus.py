"""Circles, quarters, stripes and squares on a grid."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet

Tones: TypeAlias = tuple[Colour, Colour, Colour]
Tile: TypeAlias = Callable[[Ink, Generator, float, float, float, Tones], None]


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, ink = brief.palette, Ink(sheet)
    side = 1 / int(rng.integers(3, 7))
    sheet.cover(colour.at_lightness(palette.ink, 0.25) if rng.random() < 0.3 else palette.paper)
    taken: set[tuple[int, int]] = set()
    for row in range(int(sheet.tall / side + 0.99)):
        for column in range(int(sheet.wide / side + 0.99)):
            tile(ink, palette, rng, column, row, side, taken)
    sheet.stick(ink)
    worn(sheet, rng)


def tile(
    ink: Ink, palette: Palette, rng: Generator, column: int, row: int, side: float, taken: set[tuple[int, int]]
) -> None:
    """One field of the grid, or four of them as one."""
    if (column, row) in taken:
        return
    has_room = side < 0.3 and (column + 1, row) not in taken and max(column, row) < 1 / side - 1.5
    span = 2 if has_room and rng.random() < 0.16 else 1
    taken |= {(column + right, row + down) for right in range(span) for down in range(span)}
    tones = three(palette, rng)
    left, top, size = column * side, row * side, side * span
    ink.box(left, top, left + size, top + size, tones[0])
    TILES[int(rng.integers(len(TILES)))](ink, rng, left, top, size, tones)


def three(palette: Palette, rng: Generator) -> Tones:
    """A ground, and two that stand out from it."""
    colours = [*palette.accents[:4], palette.paper, palette.ink, palette.sky[1]]
    ground, *others = (colours[int(n)] for n in rng.permutation(len(colours)))
    two, three, *_ = sorted(others, key=lambda tone: colour.apart(ground, tone) < 0.22)
    return ground, two, three


def arc(x: float, y: float, radius: float, start: float, end: float) -> list[tuple[float, float]]:
    return [(x + radius * cos(angle), y + radius * sin(angle)) for angle in np.linspace(start, end, 40).tolist()]


def quarter(ink: Ink, rng: Generator, left: float, top: float, size: float, tones: Tones) -> None:
    right, down = rng.integers(0, 2, 2).tolist()
    x, y = left + size * right, top + size * down
    start = {(0, 0): 0.0, (1, 0): pi / 2, (1, 1): pi, (0, 1): 1.5 * pi}[right, down]
    for share, tone in ((1.0, tones[1]), (0.66, tones[2]), (0.33, tones[0]))[: int(rng.integers(1, 4))]:
        ink.polygon([(x, y), *arc(x, y, size * share, start, start + pi / 2)], tone)


def rings(ink: Ink, rng: Generator, left: float, top: float, size: float, tones: Tones) -> None:
    x, y, count = left + size / 2, top + size / 2, int(rng.integers(1, 5))
    for n in range(count):
        ink.disc(x, y, size * 0.46 * (1 - n / count), tones[1 + n % 2])


def halves(ink: Ink, rng: Generator, left: float, top: float, size: float, tones: Tones) -> None:
    """Two half discs, shifted against each other."""
    turn = rng.integers(0, 2) * pi / 2
    x, y = left + size / 2, top + size / 2
    aside_x, aside_y = cos(turn + pi / 2) * size / 4, sin(turn + pi / 2) * size / 4
    ink.polygon(arc(x + aside_x, y + aside_y, size / 4, turn - pi / 2, turn + pi / 2), tones[1])
    ink.polygon(arc(x - aside_x, y - aside_y, size / 4, turn + pi / 2, turn + 1.5 * pi), tones[2])
    ink.polygon(arc(x, y, size / 2, turn + pi / 2, turn + 1.5 * pi) if rng.random() < 0.5 else [(x, y)] * 3, tones[1])


def stripes(ink: Ink, rng: Generator, left: float, top: float, size: float, tones: Tones) -> None:
    count, is_upright = int(rng.integers(3, 7)), rng.random() < 0.5
    for n in range(count):
        start, thick = size * n / count, size / count * 0.5
        if is_upright:
            ink.box(left + start, top, left + start + thick, top + size, tones[1])
        else:
            ink.box(left, top + start, left + size, top + start + thick, tones[1])


def wedge(ink: Ink, rng: Generator, left: float, top: float, size: float, tones: Tones) -> None:
    corners = [(left, top), (left + size, top), (left + size, top + size), (left, top + size)]
    skip = int(rng.integers(4))
    ink.polygon([corner for n, corner in enumerate(corners) if n != skip], tones[1])
    if rng.random() < 0.5:
        x, y = corners[(skip + 2) % 4]
        ink.disc((x + left + size / 2) / 2, (y + top + size / 2) / 2, size * 0.14, tones[2])


def dots(ink: Ink, rng: Generator, left: float, top: float, size: float, tones: Tones) -> None:
    count = int(rng.integers(2, 5))
    for n in range(count * count):
        ink.disc(
            left + size * (n % count + 0.5) / count,
            top + size * (n // count + 0.5) / count,
            size * 0.27 / count,
            tones[1],
        )


def fan(ink: Ink, rng: Generator, left: float, top: float, size: float, tones: Tones) -> None:
    """An arch over an arch."""
    x, foot = left + size / 2, top + size
    for n, share in enumerate((0.5, 0.38, 0.26, 0.14)):
        ink.polygon(
            [(x + size * share, foot), *arc(x, top + size / 2, size * share, 0, -pi), (x - size * share, foot)],
            tones[1 + n % 2],
        )


def eye(ink: Ink, rng: Generator, left: float, top: float, size: float, tones: Tones) -> None:
    lens = arc(left, top + size, size, -pi / 2, 0) + arc(left + size, top, size, pi / 2, pi)
    ink.polygon(lens, tones[1])
    ink.disc(left + size / 2, top + size / 2, size * 0.17, tones[2])


TILES: tuple[Tile, ...] = (quarter, quarter, rings, halves, stripes, wedge, dots, fan, eye)


def worn(sheet: Sheet, rng: Generator) -> None:
    """Printed a long time ago: uneven ink, rubbed a little."""
    light.tooth(sheet, rng, 0.02)
    rubbed = light.between(0.72, 0.9, noise.cloud(sheet, rng, 40, 4, gain=0.8)) * noise.cloud(sheet, rng, 3, 3)
    sheet.lay(rubbed, (0.96, 0.93, 0.86), 0.22)
    sheet.shade(0.94 + np.float32(0.08) * noise.cloud(sheet, rng, 2, 3))
