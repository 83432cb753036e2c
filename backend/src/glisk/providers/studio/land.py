"""What stands on the ground: ridges, pines, still water."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import light, noise
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.sheet import Ink, Sheet


def below(sheet: Sheet, line: Plane) -> Plane:
    """1 under a line that has a height for every column, with a smooth edge."""
    return ((sheet.y - line[None, :]) * np.float32(sheet.unit) + np.float32(0.5)).clip(0, 1)


def ridge(sheet: Sheet, rng: Generator, base: float, height: float, peaks: float) -> Plane:
    """The outline of a range: sharp peaks, and lower ones between."""
    rough = noise.line(rng, sheet.width, peaks * sheet.wide, 7, 0.47)
    crests = 1 - np.abs(rough) * 1.1
    return (base - height * (0.75 * crests + 0.25 * rough)).astype(np.float32)


def hill(sheet: Sheet, rng: Generator, base: float, height: float, bumps: float) -> Plane:
    return (base - height * noise.line(rng, sheet.width, bumps * sheet.wide, 3, 0.32)).astype(np.float32)


def pines(sheet: Sheet, rng: Generator, line: Plane, size: float, tone: Colour, spacing: float = 0.5) -> None:
    """A row of firs along a line, each a little different."""
    ink, x = Ink(sheet), -size
    while x < sheet.wide + size:
        foot = float(line[min(max(int(x * sheet.unit), 0), sheet.width - 1)])
        fir(ink, rng, x, foot + size * 0.12, size * rng.uniform(0.45, 1.15), tone)
        x += size * spacing * rng.uniform(0.3, 1.3)
    sheet.stick(ink)


def fir(ink: Ink, rng: Generator, x: float, foot: float, height: float, tone: Colour) -> None:
    """Boughs from the tip down, each wider than the one above."""
    boughs, half = 9, height * rng.uniform(0.17, 0.25)
    right = [(x, foot - height)]
    for n in range(1, boughs):
        down = foot - height + height * 0.95 * n / boughs
        reach = half * (n / boughs) ** 0.9 * rng.uniform(0.75, 1.2)
        right += [(x + reach, down + height * 0.035), (x + reach * 0.45, down)]
    left = [(2 * x - point_x, point_y) for point_x, point_y in reversed(right)]
    ink.polygon([*right, (x + height * 0.015, foot), (x - height * 0.015, foot), *left], tone)


def mirror(sheet: Sheet, rng: Generator, shore: float, tone: Colour, depth: float = 0.35) -> None:
    """Still water: what stands above the shore, upside down, torn a little by ripples and darker."""
    top = int(shore * sheet.unit)
    rows = np.arange(top, sheet.height)
    ripple = noise.cloud(sheet, rng, 26, 2, stretch=7)[top:] - 0.5
    far = ((rows - top) / max(1, len(rows)))[:, None].astype(np.float32)
    source = (2 * top - rows - 1)[:, None] + (ripple * (4 + 40 * far) * sheet.unit / 1024).astype(np.intp)
    source = source.clip(0, max(top - 1, 0))
    columns = np.arange(sheet.width)[None, :]
    for plane, shade in zip(sheet.planes, tone, strict=True):
        seen = plane[source, columns]
        plane[top:] = seen + (np.float32(shade) - seen) * (np.float32(depth) + far * np.float32(0.35))
    glint = light.between(0.62, 0.9, ripple + 0.5) * (1 - far) * np.float32(0.18)
    sheet.planes[:, top:] += glint * (1 - sheet.planes[:, top:])
