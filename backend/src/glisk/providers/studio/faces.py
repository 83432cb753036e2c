"""Faces of flat shapes, the same on both sides; one unit is about the height of a head above its middle."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.figure import Figure


@dataclass(frozen=True, slots=True)
class Paints:
    skin: Colour
    shade: Colour
    one: Colour
    two: Colour
    three: Colour
    dark: Colour
    pale: Colour


def shoulders(face: Figure, rng: Generator, paints: Paints) -> None:
    """A neck, a robe, and a collar in bands."""
    robe = [(-1.7, 2.2), (-1.5, 1.65), (-0.7, 1.32), (0.7, 1.32), (1.5, 1.65), (1.7, 2.2)]
    face.polygon(robe, paints.two)
    face.polygon([(-0.36, 0.8), (0.36, 0.8), (0.42, 1.5), (-0.42, 1.5)], paints.shade)
    bands = int(rng.integers(3, 6))
    for n in range(bands):
        reach = 1.05 - 0.55 * n / bands
        face.oval(0, 1.36, reach, reach * 0.5, (paints.one, paints.pale, paints.three, paints.dark)[n % 4])
    face.oval(0, 1.3, 0.42, 0.2, paints.shade)
    for n in range(11):
        angle = pi * (0.08 + 0.84 * n / 10)
        face.oval(cos(angle) * 0.96, 1.36 + sin(angle) * 0.45, 0.05, 0.05, paints.pale)


def crown(face: Figure, rng: Generator, paints: Paints) -> None:
    kind = int(rng.integers(5))
    if kind == 0:
        petals(face, rng, paints)
    elif kind == 1:
        for side in (-1, 1):
            face.curve([(side * 0.5, -0.8), (side * 1.0, -1.15), (side * 0.95, -1.7)], 0.3, paints.one, 0.06)
            face.curve([(side * 0.62, -0.95), (side * 0.8, -1.06)], 0.12, paints.pale)
    elif kind == 2:
        face.oval(0, -0.35, 1.12, 1.12, paints.dark)
        face.oval(0, -1.32, 0.36, 0.32, paints.dark)
        face.oval(0, -1.08, 0.3, 0.07, paints.one)
    elif kind == 3:
        for n in range(-2, 3):
            face.polygon(
                [(n * 0.26 - 0.16, -0.6), (n * 0.36, -1.5 + abs(n) * 0.12), (n * 0.26 + 0.16, -0.6)], paints.one
            )
            face.oval(n * 0.36, -1.5 + abs(n) * 0.12, 0.08, 0.08, paints.three)
    else:
        for side in (-1, 1):
            face.curve([(0, -1.0), (side * 0.9, -0.6), (side * 1.08, 0.3), (side * 0.95, 1.2)], 0.62, paints.dark, 0.3)


def petals(face: Figure, rng: Generator, paints: Paints) -> None:
    """All round: a flower, or the sun."""
    count = int(rng.integers(14, 26))
    for ring, tones in ((1.75, (paints.one, paints.two)), (1.45, (paints.three, paints.pale))):
        for n in range(count):
            angle = 2 * pi * n / count
            x, y = cos(angle) * ring * 0.66, sin(angle) * ring * 0.66
            face.oval(x, y, ring * 0.34, 3.6 / count * ring / 2, tones[n % 2], angle)


def head(face: Figure, rng: Generator, paints: Paints) -> tuple[float, float]:
    """A superellipse that narrows to the chin, in two tones. Says how wide it is and where it ends."""
    wide, tall = rng.uniform(0.72, 0.95), rng.uniform(1.0, 1.2)
    square, taper = rng.uniform(2.0, 3.6), rng.uniform(0.05, 0.34)
    angle = np.linspace(-pi / 2, 1.5 * pi, 80)
    x = np.sign(np.cos(angle)) * np.abs(np.cos(angle)) ** (2 / square) * wide
    y = np.sign(np.sin(angle)) * np.abs(np.sin(angle)) ** (2 / square) * tall
    x = x * (1 - taper * (y / tall).clip(-0.2, 1))
    outline = np.stack([x, y], axis=1).astype(np.float32)
    face.polygon(outline, paints.skin)
    half = outline[outline[:, 0] >= 0]
    other = paints.shade if rng.random() < 0.6 else colour.mix(paints.skin, paints.one, 0.5)
    face.polygon(half[np.argsort(half[:, 1])], other)
    return wide, tall


def ears(face: Figure, rng: Generator, paints: Paints, wide: float) -> None:
    drop = rng.random() < 0.7
    for side in (-1, 1):
        face.oval(side * wide, 0.05, 0.13, 0.24, paints.shade)
        if drop:
            face.oval(side * (wide + 0.03), 0.42, 0.1, 0.1, paints.one)
            face.oval(side * (wide + 0.03), 0.66, 0.08, 0.16, paints.three)


def brow(face: Figure, rng: Generator, paints: Paints, wide: float) -> None:
    """What is painted on the forehead."""
    kind = int(rng.integers(4))
    if kind == 0:
        for n in range(3):
            face.polygon(
                [(-0.36 + 0.1 * n, -0.92 + 0.08 * n), (0.36 - 0.1 * n, -0.92 + 0.08 * n), (0, -0.42 - 0.06 * n)],
                (paints.one, paints.pale, paints.three)[n],
            )
    elif kind == 1:
        for n, tone in enumerate((paints.three, paints.pale, paints.dark)):
            face.oval(0, -0.62, 0.22 - 0.07 * n, 0.16 - 0.05 * n, tone)
    elif kind == 2:
        for n in range(-3, 4):
            face.oval(n * 0.17, -0.6 + 0.02 * n * n, 0.055, 0.055, paints.pale if n % 2 else paints.one)
    else:
        face.polygon(
            [(-wide * 0.93, -0.5), (wide * 0.93, -0.5), (wide * 0.86, -0.66), (-wide * 0.86, -0.66)], paints.one
        )
        face.oval(0, -0.6, 0.15, 0.17, paints.pale)
        face.oval(0, -0.6, 0.1, 0.12, paints.three)


def eyes(face: Figure, rng: Generator, paints: Paints) -> None:
    kind, tilt, size = int(rng.integers(4)), rng.uniform(-0.05, 0.25), rng.uniform(0.85, 1.15)
    for side in (-1, 1):
        eye = face.leaning(side * 0.37, -0.1, side * tilt)
        if kind == 0:
            almond(eye, size, paints)
        elif kind == 1:
            for n, tone in enumerate((paints.dark, paints.pale, paints.two, paints.dark)):
                eye.oval(0, 0, (0.25 - 0.055 * n) * size, (0.25 - 0.055 * n) * size, tone)
        elif kind == 2:
            eye.oval(0, 0, 0.26 * size, 0.15 * size, paints.pale)
            eye.oval(0, 0, 0.13 * size, 0.15 * size, paints.dark)
            eye.oval(-0.04, -0.05, 0.04, 0.04, paints.pale)
        else:
            eye.curve([(-0.24 * size, 0.02), (0, 0.12), (0.24 * size, 0.02)], 0.07, paints.dark)
        eye.curve([(-0.32, -0.22), (0, -0.33), (0.32, -0.24)], 0.085, paints.dark, 0.06)


def almond(eye: Figure, size: float, paints: Paints) -> None:
    along = np.linspace(-1, 1, 18)
    lid = np.concatenate(
        [np.stack([along * 0.29, -(1 - along**2) * 0.15], 1), np.stack([along[::-1] * 0.29, (1 - along**2) * 0.13], 1)]
    )
    eye.polygon((lid * size * 1.16).astype(np.float32), paints.dark)
    eye.polygon((lid * size).astype(np.float32), paints.pale)
    eye.oval(0, -0.005, 0.115 * size, 0.115 * size, paints.two)
    eye.oval(0, -0.005, 0.06 * size, 0.06 * size, paints.dark)


def nose(face: Figure, rng: Generator, paints: Paints) -> None:
    wide, foot = rng.uniform(0.14, 0.24), rng.uniform(0.3, 0.42)
    face.polygon(
        [(0, -0.42), (0.07, -0.2), (wide, foot), (0, foot + 0.06), (-wide, foot), (-0.07, -0.2)],
        colour.mix(paints.skin, paints.pale, 0.35),
    )
    face.polygon(
        [(0, -0.42), (0.07, -0.2), (wide, foot), (0, foot + 0.06)], colour.mix(paints.shade, paints.dark, 0.18)
    )


def mouth(face: Figure, rng: Generator, paints: Paints, chin: float) -> None:
    y, wide, kind = 0.5 + (chin - 0.5) * 0.32, rng.uniform(0.2, 0.36), int(rng.integers(4))
    if kind == 0:
        face.polygon(
            [(-wide, y), (-0.08, y - 0.09), (0, y - 0.05), (0.08, y - 0.09), (wide, y), (0, y + 0.15)], paints.one
        )
        face.line([(-wide, y), (wide, y)], 0.022, paints.dark)
    elif kind == 1:
        face.oval(0, y, wide, 0.12, paints.dark)
        for n in range(-2, 3):
            x, half = n * wide * 0.32, wide * 0.14
            face.polygon(
                [(x - half, y - 0.07), (x + half, y - 0.07), (x + half, y + 0.02), (x - half, y + 0.02)], paints.pale
            )
    elif kind == 2:
        face.curve([(-wide, y - 0.04), (0, y + 0.08), (wide, y - 0.04)], 0.075, paints.dark)
    else:
        for n, tone in enumerate((paints.dark, paints.three, paints.dark)):
            face.oval(0, y, 0.17 - 0.05 * n, 0.13 - 0.04 * n, tone)


def cheeks(face: Figure, rng: Generator, paints: Paints) -> None:
    kind = int(rng.integers(4))
    for side in (-1, 1):
        if kind == 0:
            face.oval(side * 0.5, 0.38, 0.15, 0.15, paints.one)
        elif kind == 1:
            face.polygon(
                [(side * 0.5, 0.2), (side * 0.62, 0.38), (side * 0.5, 0.56), (side * 0.38, 0.38)], paints.three
            )
        elif kind == 2:
            for n in range(6):
                face.oval(side * (0.42 + 0.13 * (n % 3)), 0.3 + 0.14 * (n // 3), 0.035, 0.035, paints.pale)
        else:
            face.oval(side * 0.5, 0.38, 0.17, 0.17, paints.two)
            face.oval(side * 0.5, 0.38, 0.09, 0.09, paints.pale)
