"""Colours as people see them: mixed in OKLab, where the middle of blue and yellow is not grey mud."""

from __future__ import annotations

from math import atan2, cos, hypot, radians, sin
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Plane: TypeAlias = NDArray[np.float32]
Colour: TypeAlias = tuple[float, float, float]

STEPS = 2048  # finer than eight bits can show, so a ramp has no bands

# Björn Ottosson, https://bottosson.github.io/posts/oklab/
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
FROM_CONES, FROM_LAB = np.linalg.inv(TO_CONES), np.linalg.inv(TO_LAB)


def of(hexes: str) -> tuple[Colour, ...]:
    """`of("ffffff 102030")`"""
    return tuple(one(word) for word in hexes.split())


def one(word: str) -> Colour:
    red, green, blue = (int(word[n : n + 2], 16) / 255 for n in (0, 2, 4))
    return red, green, blue


def to_lab(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.asarray(TO_LAB @ np.cbrt(TO_CONES @ linear))


def from_lab(lab: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = (FROM_CONES @ (FROM_LAB @ lab) ** 3).clip(0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def ramp(colours: tuple[Colour, ...], stops: tuple[float, ...] | None = None) -> Plane:
    """A table from 0 to 1 through all of them; see `tint`."""
    places = np.linspace(0, 1, len(colours)) if stops is None else np.array(stops)
    lab = to_lab(np.array(colours).T)
    at = np.linspace(0, 1, STEPS)
    return from_lab(np.stack([np.interp(at, places, channel) for channel in lab])).astype(np.float32)


def tint(field: Plane, table: Plane) -> Plane:
    """Three planes of colour for a field of 0 to 1."""
    return table.take((field * (STEPS - 1)).clip(0, STEPS - 1).astype(np.intp), axis=1)


def mix(one: Colour, other: Colour, share: float) -> Colour:
    lab = to_lab(np.array([one, other]).T)
    return as_colour(from_lab(lab[:, 0] * (1 - share) + lab[:, 1] * share))


def at_lightness(colour: Colour, wanted: float) -> Colour:
    """The same hue, as light or as dark as is wanted."""
    return as_colour(from_lab(np.array([wanted, *to_lab(np.array(colour))[1:]])))


def turned(colour: Colour, degrees: float, *, richer: float = 1.0) -> Colour:
    """The same, a little further round the wheel."""
    light, a, b = to_lab(np.array(colour))
    angle, chroma = atan2(b, a) + radians(degrees), hypot(a, b) * richer
    return as_colour(from_lab(np.array([light, chroma * cos(angle), chroma * sin(angle)])))


def flat(colour: Colour) -> Plane:
    """As three planes of one point each, to be multiplied with a field."""
    return np.array(colour, np.float32)[:, None, None]


def lightness(colour: Colour) -> float:
    return float(to_lab(np.array(colour))[0])


def apart(one: Colour, other: Colour) -> float:
    """How different two colours look: black and white are 1 apart."""
    lab = to_lab(np.array([one, other]).T)
    return float(np.linalg.norm(lab[:, 0] - lab[:, 1]))


def as_colour(values: NDArray[np.float64]) -> Colour:
    return float(values[0]), float(values[1]), float(values[2])


def at(table: Plane, share: float) -> Colour:
    return as_colour(table[:, round(min(max(share, 0.0), 1.0) * (STEPS - 1))].astype(np.float64))
