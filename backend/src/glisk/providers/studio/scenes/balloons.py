"""Balloons over the country by day, lanterns by night."""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, sin

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, land, light, noise, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.figure import Figure
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet

# the outline of a balloon from its crown to its mouth: how wide, how far down
CROWN = [(sin(angle), -cos(angle)) for angle in np.linspace(0, pi / 2, 14).tolist()]
SKIRT = [(1 - 0.8 * share**1.7, 1.36 * share) for share in np.linspace(0, 1, 14).tolist()]
OUTLINE = CROWN + SKIRT


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, horizon = brief.palette, sheet.tall * rng.uniform(0.7, 0.86)
    sky.air(sheet, palette, rng, horizon)
    if palette.is_dark:
        sky.stars(sheet, rng, 700, horizon)
    else:
        x, y = sheet.wide * rng.uniform(0.1, 0.9), horizon * rng.uniform(0.5, 0.95)
        sky.sun(sheet, palette, x, y, rng.uniform(0.06, 0.14))
        sky.heaps(sheet, palette, rng, horizon, int(rng.integers(3, 8)))
    country(sheet, palette, rng, horizon)
    (lanterns if palette.is_dark and rng.random() < 0.75 else balloons)(sheet, palette, rng, horizon)


def country(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    layers = int(rng.integers(3, 6))
    for n in range(layers):
        near = n / (layers - 1)
        line = land.hill(sheet, rng, horizon + (sheet.tall - horizon) * 0.85 * near, 0.05 + 0.02 * near, 2.6 - near)
        part = sheet.under(line)
        field = noise.cloud(part, rng, 5, 3, stretch=3)
        tone = colour.mix(colour.mix(palette.far, palette.sky[-1], 0.4), palette.near, near * 0.9)
        other = colour.mix(tone, palette.accents[2], 0.35)
        part.lay(land.below(part, line), colour.tint(light.between(0.4, 0.6, field), colour.ramp((tone, other))))
        foot = horizon + (sheet.tall - horizon) * near + 0.12
        light.haze(part, palette.sky[-1], float(line.min()), foot, 0.35 * (1 - near))


def balloons(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    """One or two near, the others small and pale with distance."""
    count = int(rng.integers(4, 10))
    slots = rng.permutation(count)
    sizes = sorted(0.025 + 0.13 * rng.random(count) ** 1.7)
    sizes[-1] = max(sizes[-1], rng.uniform(0.13, 0.21))
    for n, size in enumerate(sizes):
        x, y = sheet.wide * (slots[n] + rng.uniform(0.2, 0.8)) / count, horizon * rng.uniform(0.12, 0.8)
        if n == count - 1:
            x, y = sheet.wide * rng.uniform(0.28, 0.72), horizon * rng.uniform(0.3, 0.5)
        balloon(sheet, palette, rng, x, y, size, max(0.0, 0.6 - size * 4.5))


def balloon(sheet: Sheet, palette: Palette, rng: Generator, x: float, y: float, size: float, far: float) -> None:
    part = sheet.part(x - size * 1.1, y - size * 1.1, x + size * 1.1, y + size * 2.1)
    ink = Ink(part)
    figure = Figure(ink, x, y, size, rng.normal(0, 0.04))
    cloth = [colour.mix(tone, palette.sky[-1], far) for tone in palette.some(rng, int(rng.integers(2, 4)))]
    gores(figure, cloth, int(rng.choice([8, 10, 12])))
    if rng.random() < 0.5:
        sash(figure, cloth[-1], colour.mix(palette.paper, palette.sky[-1], far))
    basket(figure, colour.mix(palette.near, palette.sky[-1], far))
    part.stick(ink, fur=volume(part, x, y, size))


def gores(figure: Figure, cloth: list[Colour], count: int) -> None:
    """Strips of cloth from the crown to the mouth, narrower towards the sides."""
    edges = [sin(angle) for angle in np.linspace(-pi / 2, pi / 2, count + 1).tolist()]
    for n, (left, right) in enumerate(pairwise(edges)):
        there, back = ([(wide * side, down) for wide, down in OUTLINE] for side in (left, right))
        figure.polygon(there + back[::-1], cloth[n % len(cloth)])


def sash(figure: Figure, one: Colour, other: Colour) -> None:
    middle = [point for point in OUTLINE if -0.15 < point[1] < 0.3]
    band = [(wide, down + 0.06 * (1 - wide)) for wide, down in middle]
    figure.polygon(band + [(-wide, down) for wide, down in reversed(band)], other)
    for n in range(7):
        at = sin((n - 3) * 0.42)
        figure.oval(at * 0.9, 0.07, 0.1 * (1 - abs(at) * 0.6), 0.1, one)


def basket(figure: Figure, tone: Colour) -> None:
    for x in (-0.2, 0.2):
        figure.line([(x, 1.34), (x * 0.75, 1.72)], 0.018, tone)
    figure.polygon([(-0.17, 1.68), (0.17, 1.68), (0.13, 1.95), (-0.13, 1.95)], tone)


def volume(part: Sheet, x: float, y: float, size: float) -> colour.Plane:
    """Round: light on the upper left, dark on the lower right."""
    across, down = (part.x - np.float32(x)) / np.float32(size), (part.y - np.float32(y)) / np.float32(size)
    return (1.06 - (across * 0.24 + down * 0.14 + across * across * 0.14)).clip(0.55, 1.2).astype(np.float32)


def lanterns(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    """Paper and flame, each in its own halo."""
    for size in sorted(0.01 + 0.06 * rng.random(int(rng.integers(40, 80))) ** 2.6):
        x, y = sheet.wide * rng.random(), horizon * rng.uniform(0.04, 0.95)
        part = sheet.part(x - size * 4, y - size * 4, x + size * 4, y + size * 4)
        falls = light.between(size * 4, size, light.distance(part, x, y))
        flame = colour.mix(colour.mix(palette.accent(rng, 2), palette.glow, 0.3), (1.0, 0.72, 0.36), 0.55)
        part.shine(light.glow(part, x, y, size * 1.1) * falls, flame, 0.75)
        ink = Ink(part)
        paper(Figure(ink, x, y, float(size), rng.normal(0, 0.09)), palette, flame)
        part.stick(ink, 0.96)


def paper(figure: Figure, palette: Palette, flame: Colour) -> None:
    figure.polygon([(-0.5, -0.75), (0.5, -0.75), (0.62, -0.5), (0.42, 0.75), (-0.42, 0.75), (-0.62, -0.5)], flame)
    figure.oval(0, 0.35, 0.3, 0.42, colour.mix(flame, palette.glow, 0.7))
    figure.oval(0, 0.5, 0.15, 0.24, (1.0, 0.97, 0.88))
    figure.polygon([(-0.42, 0.68), (0.42, 0.68), (0.4, 0.78), (-0.4, 0.78)], colour.mix(flame, palette.ink, 0.6))
