"""Kittens, drawn from round shapes; one unit is about the radius of a head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.figure import Figure

DARK: Colour = (0.16, 0.13, 0.17)
ROSY: Colour = (0.94, 0.62, 0.62)
WHITE: Colour = (0.99, 0.97, 0.94)
EAR = ((1.04, -0.28), (0.98, -0.9), (0.9, -1.22), (0.78, -1.2), (0.28, -0.72))


@dataclass(frozen=True, slots=True)
class Coat:
    fur: Colour
    marks: Colour
    belly: Colour
    eyes: Colour
    is_tabby: bool


def coats() -> tuple[Coat, ...]:
    fur = colour.of("e9964f 9a9da6 3a3840 f4e6d2 c9a27e 6f6660 f3efe8")
    marks = colour.of("c4692a 6a6d78 2a2930 d9b58a 7a4f38 453f3c e2a25e")
    belly = colour.of("fbe9d2 eceef0 57545f fffaf0 f5e6d0 cfc6bd ffffff")
    eyes = colour.of("6a9b3f 7fa8c9 e3b23c 5b8fb9 4f86a8 b5a33a 5f9e6e")
    return tuple(
        Coat(*parts, is_tabby=n in (0, 1, 5, 6)) for n, parts in enumerate(zip(fur, marks, belly, eyes, strict=True))
    )


def sitting(cat: Figure, rng: Generator, coat: Coat) -> None:
    tail(cat, coat, [(0.7, 2.75), (1.7, 2.6), (2.0, 1.7), (1.55, 1.2), (1.75, 0.75)])
    shadow = colour.mix(coat.fur, DARK, 0.16)
    cat.oval(0, 1.9, 1.05, 1.15, coat.fur)
    cat.oval(-0.72, 2.45, 0.55, 0.55, shadow)
    cat.oval(0.72, 2.45, 0.55, 0.55, shadow)
    cat.oval(0, 1.55, 0.62, 0.8, coat.belly)
    for side in (-1, 1):
        cat.oval(side * 0.95, 2.85, 0.42, 0.2, coat.belly)
        cat.curve([(side * 0.36, 1.7), (side * 0.34, 2.3), (side * 0.36, 2.75)], 0.5, coat.fur)
        cat.oval(side * 0.37, 2.86, 0.33, 0.22, coat.belly)
        toes(cat, side * 0.37, 2.9)
    head(cat.leaning(0, 0.25, rng.uniform(-0.16, 0.16)), rng, coat)


def reaching(cat: Figure, rng: Generator, coat: Coat) -> None:
    """One paw is up: there is a flower."""
    tail(cat, coat, [(-0.6, 2.7), (-1.6, 2.8), (-2.1, 2.1), (-1.9, 1.5)])
    cat.oval(-0.05, 1.9, 1.0, 1.1, coat.fur, 0.15)
    cat.oval(-0.7, 2.45, 0.58, 0.55, colour.mix(coat.fur, DARK, 0.16))
    cat.oval(0.15, 1.6, 0.6, 0.75, coat.belly, -0.2)
    cat.oval(-0.85, 2.85, 0.42, 0.2, coat.belly)
    cat.curve([(-0.2, 1.8), (-0.22, 2.3), (-0.2, 2.75)], 0.5, coat.fur)
    cat.oval(-0.2, 2.86, 0.33, 0.22, coat.belly)
    toes(cat, -0.2, 2.9)
    cat.curve([(0.55, 1.75), (1.05, 1.6), (1.5, 1.05)], 0.46, coat.fur)
    cat.oval(1.55, 0.95, 0.29, 0.26, coat.belly, -0.9)
    head(cat.leaning(0, 0.25, rng.uniform(0.05, 0.22)), rng, coat)


def loaf(cat: Figure, rng: Generator, coat: Coat) -> None:
    """Paws under, eyes on you."""
    tail(cat, coat, [(1.3, 2.75), (2.2, 2.75), (2.2, 2.2), (1.6, 2.25)])
    cat.oval(0.55, 2.1, 1.5, 0.95, coat.fur)
    if coat.is_tabby:
        for n in range(4):
            cat.curve(
                [(0.75 + 0.3 * n, 1.25 + 0.07 * n * n), (0.85 + 0.33 * n, 1.75 + 0.05 * n)], 0.13, coat.marks, 0.04
            )
    cat.oval(-0.1, 2.3, 0.85, 0.7, coat.belly)
    for x in (-0.45, 0.25):
        cat.oval(x, 2.86, 0.36, 0.2, coat.belly)
        toes(cat, x, 2.9)
    head(cat.leaning(-0.1, 1.15, rng.uniform(-0.14, 0.14)), rng, coat)


def peeking(cat: Figure, rng: Generator, coat: Coat) -> None:
    """Only a head and two paws over the grass."""
    cat.oval(0, 2.6, 1.0, 1.0, coat.fur)
    head(cat.leaning(0, 1.5, rng.uniform(-0.2, 0.2)), rng, coat)
    for side in (-1, 1):
        cat.oval(side * 0.85, 2.55, 0.32, 0.27, coat.belly)
        toes(cat, side * 0.85, 2.6)


Pose: TypeAlias = Callable[[Figure, Generator, Coat], None]
POSES: tuple[Pose, ...] = (sitting, reaching, loaf, peeking)


def tail(cat: Figure, coat: Coat, points: list[tuple[float, float]]) -> None:
    cat.curve(points, 0.46, colour.mix(coat.fur, DARK, 0.1), 0.36)
    cat.curve(points[-2:], 0.37, coat.marks if coat.is_tabby else colour.mix(coat.fur, coat.belly, 0.6), 0.34)


def toes(cat: Figure, x: float, y: float) -> None:
    for side in (-1, 1):
        cat.line([(x + side * 0.09, y + 0.02), (x + side * 0.09, y + 0.13)], 0.035, (0.45, 0.36, 0.36))


def head(cat: Figure, rng: Generator, coat: Coat) -> None:
    for side in (-1, 1):
        ear(cat, side, coat)
    for side in (-1, 1):
        for lift in (0.25, 0.45, 0.62):
            cat.polygon([(side * 0.8, lift - 0.16), (side * 1.26, lift + 0.05), (side * 0.75, lift + 0.22)], coat.fur)
    cat.oval(0, 0.05, 1.12, 0.94, coat.fur)
    if coat.is_tabby:
        stripes(cat, coat)
    cat.oval(0, 0.5, 0.55, 0.4, coat.belly)
    eyes(cat, rng, coat)
    muzzle(cat, coat)


def ear(cat: Figure, side: int, coat: Coat) -> None:
    for share, tone in ((1.0, coat.fur), (0.6, ROSY)):
        inset_x, inset_y = 0.68 * (1 - share), -0.5 * (1 - share)
        cat.polygon([(side * (inset_x + x * share), inset_y + y * share) for x, y in EAR], tone)


def stripes(cat: Figure, coat: Coat) -> None:
    for x, low in ((0.0, -0.32), (-0.26, -0.36), (0.26, -0.36)):
        cat.curve([(x * 1.1, -0.84), (x, low)], 0.15, coat.marks, 0.05)
    for side in (-1, 1):
        for lift in (0.12, 0.36):
            cat.curve([(side * 1.08, lift), (side * 0.78, lift + 0.04)], 0.11, coat.marks, 0.04)


def eyes(cat: Figure, rng: Generator, coat: Coat) -> None:
    is_happy = rng.random() < 0.22
    for side in (-1, 1):
        x = side * 0.47
        if is_happy:
            arc = [(x + 0.2 * np.cos(angle), 0.16 - 0.17 * np.sin(angle)) for angle in np.linspace(0.2, pi - 0.2, 9)]
            cat.curve(arc, 0.075, DARK)
            continue
        cat.oval(x, 0.08, 0.255, 0.285, DARK)
        cat.oval(x, 0.09, 0.215, 0.245, coat.eyes)
        cat.oval(x, 0.09, 0.135, 0.2, DARK)
        cat.oval(x - 0.07, 0.0, 0.075, 0.08, WHITE)
        cat.oval(x + 0.07, 0.18, 0.035, 0.035, WHITE)


def muzzle(cat: Figure, coat: Coat) -> None:
    line, whisker = colour.mix(DARK, coat.belly, 0.25), colour.mix(WHITE, coat.marks, 0.25)
    for side in (-1, 1):
        cat.oval(side * 0.72, 0.44, 0.17, 0.1, colour.mix(coat.fur, ROSY, 0.5))
        cat.curve([(0, 0.5), (side * 0.08, 0.6), (side * 0.22, 0.58)], 0.045, line)
        for n in range(3):
            cat.line([(side * 0.5, 0.44 + 0.07 * n), (side * 1.42, 0.3 + 0.17 * n)], 0.02, whisker)
    cat.polygon([(-0.11, 0.36), (0.11, 0.36), (0.05, 0.46), (0, 0.49), (-0.05, 0.46)], ROSY)
