"""Ribbons that follow one wind and never touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from glisk.providers.studio import colour, light, noise
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet

STEP, CELL = 0.012, 0.006
WIDTHS = (0.05, 0.03, 0.018, 0.009)


@dataclass(frozen=True, slots=True)
class Ground:
    """What lies under the ribbons, and their colours."""

    paper: Colour
    colours: tuple[Colour, ...]


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    ground, wind = chosen(brief.palette, rng), breeze(sheet, rng)
    sheet.cover(ground.paper)
    taken = np.zeros((int(sheet.tall / CELL) + 2, int(sheet.wide / CELL) + 2), dtype=bool)
    ink, scale = Ink(sheet), rng.uniform(0.7, 1.5)
    for width, count in zip(WIDTHS, (30, 80, 240, 460), strict=True):
        for path in walks(sheet, rng, wind, count):
            ribbon(ink, rng, ground, free(path, width * scale, taken), width * scale)
    light.tooth(sheet, rng, 0.012)
    sheet.stick(ink)


def chosen(palette: Palette, rng: Generator) -> Ground:
    if rng.random() < 0.4:
        return Ground(colour.at_lightness(palette.ink, 0.2), (*palette.accents[:4], palette.paper, palette.sky[-1]))
    return Ground(palette.paper, (*palette.accents[:4], palette.ink, palette.sky[1]))


def breeze(sheet: Sheet, rng: Generator) -> Plane:
    """The direction at every point, in turns that come back gently; sometimes all round an eye."""
    small = Sheet(max(2, sheet.width // 8), max(2, sheet.height // 8))
    angle = noise.cloud(small, rng, rng.uniform(0.9, 2.2), 2) * np.float32(rng.uniform(2, 7)) + np.float32(
        rng.uniform(0, 6)
    )
    if rng.random() < 0.35:
        x, y = sheet.wide * rng.uniform(0.3, 0.7), sheet.tall * rng.uniform(0.3, 0.7)
        angle = (
            np.arctan2(small.y - np.float32(y), small.x - np.float32(x)) + np.float32(1.45) + angle * np.float32(0.12)
        )
    return angle.astype(np.float32)


def walks(sheet: Sheet, rng: Generator, wind: Plane, count: int) -> NDArray[np.float64]:
    """So many paths at once: one step of all of them is one look at the wind."""
    steps = int(rng.integers(40, 75))
    at = np.stack([rng.uniform(-0.05, sheet.wide, count), rng.uniform(-0.05, sheet.tall, count)], axis=1)
    places = np.empty((count, steps, 2))
    for n in range(steps):
        places[:, n] = at
        row = (at[:, 1] * sheet.unit / 8).astype(np.intp).clip(0, wind.shape[0] - 1)
        column = (at[:, 0] * sheet.unit / 8).astype(np.intp).clip(0, wind.shape[1] - 1)
        turn = wind[row, column]
        at = at + STEP * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return places


def free(path: NDArray[np.float64], width: float, taken: NDArray[np.bool_]) -> NDArray[np.float64]:
    """As much of the path as nobody has: it is ours from now on, with a little air beside it."""
    ahead = np.gradient(path, axis=0)
    normal = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1) / STEP
    reach = np.linspace(-1, 1, max(3, int(width / CELL) + 3)) * (width / 2 + CELL * 0.7)
    spots = path[:, None, :] + normal[:, None, :] * reach[None, :, None]
    rows = (spots[..., 1] / CELL).astype(np.intp).clip(0, taken.shape[0] - 1)
    columns = (spots[..., 0] / CELL).astype(np.intp).clip(0, taken.shape[1] - 1)
    hit = taken[rows, columns].any(axis=1)
    length = int(hit.argmax()) if hit.any() else len(path)
    if length < 5:
        return path[:0]
    taken[rows[:length], columns[:length]] = True
    return path[:length]


def ribbon(ink: Ink, rng: Generator, ground: Ground, path: NDArray[np.float64], width: float) -> None:
    """One colour, or cut across into a few."""
    if not len(path):
        return
    ahead = np.gradient(path, axis=0)
    normal = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1) / STEP * width / 2
    left, right = (path + normal).astype(np.float32), (path - normal).astype(np.float32)
    cuts = [0, len(path) - 1]
    if rng.random() < 0.3 and len(path) > 14:
        cuts = sorted({0, *rng.integers(2, len(path) - 2, 4).tolist(), len(path) - 1})
    shades = rng.integers(0, len(ground.colours), len(cuts))
    for start, end, shade in zip(cuts, cuts[1:], shades, strict=False):
        ink.polygon(np.concatenate([left[start : end + 1], right[start : end + 1][::-1]]), ground.colours[int(shade)])
