"""Chance that looks like nature: clouds, ridges, and fields bent by other fields."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from PIL import Image

from glisk.providers.studio.colour import Plane
from glisk.providers.studio.sheet import Sheet

FINER = 2  # knots to a bump


def cloud(
    sheet: Sheet, rng: Generator, cells: float, octaves: int = 4, *, stretch: float = 1.0, gain: float = 0.5
) -> Plane:
    """From 0 to 1, with `cells` bumps to a short side; `stretch` above 1 draws them out sideways."""
    coarser = coarseness(sheet, cells * 2 ** (octaves - 1))
    size = max(2, sheet.width // coarser), max(2, sheet.height // coarser)
    total = np.zeros(size[::-1], dtype=np.float32)
    for octave in range(octaves):
        fine = cells * 2**octave
        total += np.float32(gain**octave) * bumps(rng, size, sheet.wide * fine / stretch, sheet.tall * fine)
    return scaled(spread(total), (sheet.width, sheet.height))


def tile(rng: Generator, size: int, cells: int, octaves: int = 4, gain: float = 0.5) -> Plane:
    """A square whose right edge goes on at its left and whose foot goes on at its head."""
    total = np.zeros((size, size), dtype=np.float32)
    for octave in range(octaves):
        fine = cells * 2**octave
        knots = np.pad(knotted(rng, fine * FINER, fine * FINER), 2, mode="wrap")
        box = (2, 2, fine * FINER + 2, fine * FINER + 2)
        image = Image.fromarray(knots).resize((size, size), Image.Resampling.BICUBIC, box)
        total += np.float32(gain**octave) * np.asarray(image)
    return spread(total)


def looked_up(square: Plane, down: Plane, across: Plane) -> Plane:
    """A tile at places counted in tiles, over and over."""
    size = square.shape[0]
    rows, columns = ((place * np.float32(size)).astype(np.intp) % size for place in (down, across))
    return np.asarray(square.take(rows * size + columns))


def coarseness(sheet: Sheet, finest: float) -> int:
    """How much smaller the field may be made: four points to its finest bump are enough."""
    return next((coarser for coarser in (8, 4, 2) if sheet.unit / coarser >= finest * 4), 1)


def bumps(rng: Generator, size: tuple[int, int], across: float, down: float) -> Plane:
    return scaled(knotted(rng, max(3, ceil(down * FINER)), max(3, ceil(across * FINER))), size)


def knotted(rng: Generator, down: int, across: int) -> Plane:
    """Finer than its bumps and smoothed, so that they are round: bumps of single knots are square."""
    field = rng.standard_normal((down, across), dtype=np.float32)
    for axis in (0, 1):
        for _ in range(2):
            field = field * np.float32(0.5) + (np.roll(field, 1, axis) + np.roll(field, -1, axis)) * np.float32(0.25)
    return field


def scaled(field: Plane, size: tuple[int, int]) -> Plane:
    return np.array(Image.fromarray(field).resize(size, Image.Resampling.BICUBIC))


def spread(field: Plane) -> Plane:
    low, high = float(field.min()), float(field.max())
    return (field - np.float32(low)) / np.float32(max(high - low, 1e-6))


def ridged(field: Plane) -> Plane:
    """Crests where the field crosses its middle."""
    return 1 - np.abs(field * 2 - 1)


def line(rng: Generator, count: int, bumps: float, octaves: int = 5, gain: float = 0.5) -> Plane:
    """The same along a line of `count` points: from about -1 to 1."""
    at, total = np.linspace(0, 1, count), np.zeros(count)
    for octave in range(octaves):
        knots = max(2, ceil(bumps * 2**octave)) + 3
        total += gain**octave * smooth(at * (knots - 3) + rng.random(), rng.uniform(-1, 1, knots))
    return total.astype(np.float32)


def smooth(at: NDArray[np.float64], knots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Through the knots without corners."""
    left = np.floor(at).astype(np.intp)
    share = at - left
    eased = share * share * (3 - 2 * share)
    return knots[left] * (1 - eased) + knots[left + 1] * eased


def bent(field: Plane, right: Plane, down: Plane) -> Plane:
    """The field seen through uneven glass: each point looks so many pixels aside. Its edges are mirrors."""
    height, width = field.shape
    rows = mirrored(np.arange(height)[:, None] + down.astype(np.intp), height - 1)
    columns = mirrored(np.arange(width)[None, :] + right.astype(np.intp), width - 1)
    return np.asarray(field.take(rows * width + columns))


def mirrored(place: NDArray[np.intp], last: int) -> NDArray[np.intp]:
    return np.asarray(np.abs(last - np.abs(last - place)).clip(0, last))
