"""Trunks behind trunks, with the light falling in between."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, land, light, noise, plants
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, layers = brief.palette, int(rng.integers(4, 6))
    x, is_night = sheet.wide * rng.uniform(0.25, 0.75), brief.palette.is_dark
    has_leaves = rng.random() < 0.6
    clearing(sheet, palette, rng, x)
    for n in range(layers):
        near = n / (layers - 1)
        trees(sheet, palette, rng, near)
        ground(sheet, palette, rng, near)
        if has_leaves and n % 2:
            leaves(sheet, palette, rng, near)
        if n < layers - 1:
            mist(sheet, palette, rng, near)
    beams(sheet, palette, rng, x)
    if is_night or "fireflies" in brief.details:
        fireflies(sheet, palette, rng)


def clearing(sheet: Sheet, palette: Palette, rng: Generator, x: float) -> None:
    """Far away it is bright."""
    y = sheet.tall * rng.uniform(0.3, 0.55)
    away = light.distance(sheet, x, y) * np.float32(1.25) + (noise.cloud(sheet, rng, 4, 4) - 0.5) * np.float32(0.22)
    sheet.cover(colour.tint(away, colour.ramp((palette.glow, palette.sky[-1], palette.sky[2], palette.sky[1]))))


def trees(sheet: Sheet, palette: Palette, rng: Generator, near: float) -> None:
    bark = colour.mix(colour.mix(palette.sky[2], palette.far, 0.6), palette.near, near**0.8)
    ink = Ink(sheet)
    count = round((17 - 11 * near) * sheet.wide)
    for n in rng.permutation(count):
        width = (0.009 + 0.05 * near**1.5) * rng.uniform(0.6, 1.35)
        trunk(ink, rng, sheet, sheet.wide * (n + rng.uniform(0, 1)) / count, width, bark, near)
    sheet.stick(ink)


def trunk(ink: Ink, rng: Generator, sheet: Sheet, x: float, width: float, bark: Colour, near: float) -> None:
    """Wider at its root, not quite straight, with a branch or two."""
    foot, rise = sheet.tall * (0.7 + 0.36 * near), np.linspace(0, 1, 16)
    sway = x + rng.normal(0, 0.03) * rise + 0.008 * np.sin(rise * rng.uniform(4, 9) + rng.uniform(0, 6))
    half = width / 2 * (1 - 0.45 * rise + 0.8 * np.exp(-rise * 22))
    up = foot - (foot + 0.05) * rise
    ink.polygon(
        np.concatenate([np.stack([sway - half, up], 1), np.stack([sway + half, up], 1)[::-1]]).astype(np.float32), bark
    )
    for _ in range(int(rng.integers(1, 5))):
        at, side, reach = int(rng.integers(5, 15)), rng.choice([-1, 1]), width * rng.uniform(1.5, 4.5)
        angle = -np.pi / 2 + side * rng.uniform(0.5, 1.35)
        plants.petal(ink, float(sway[at]), float(up[at]), angle, reach, width * 0.22, bark, 0.18)
        twig_x, twig_y = float(sway[at]) + np.cos(angle) * reach * 0.5, float(up[at]) + np.sin(angle) * reach * 0.5
        plants.petal(ink, twig_x, twig_y, angle - side * 0.6, reach * 0.5, width * 0.16, bark, 0.18)


def leaves(sheet: Sheet, palette: Palette, rng: Generator, near: float) -> None:
    """Boughs full of them hang in from above."""
    part = sheet.part(0, 0, sheet.wide, sheet.tall * 0.6)
    hang: Plane = noise.cloud(part, rng, 4, 3) * np.float32(0.75) - part.y * np.float32(1.3)
    speckle = noise.cloud(part, rng, 75, 2, gain=0.7)
    tone = colour.mix(palette.accent(rng, 4), palette.near, 0.15 + 0.5 * near)
    mask = light.between(0.12, 0.34, hang) * light.between(0.42, 0.5, speckle + hang * np.float32(0.4))
    part.lay(mask, tone, 0.92)
    part.lay(mask * light.between(0.6, 0.68, speckle), colour.mix(tone, palette.glow, 0.4), 0.8)


def ground(sheet: Sheet, palette: Palette, rng: Generator, near: float) -> None:
    tone = colour.mix(colour.mix(palette.sky[2], palette.far, 0.55), palette.near, near**0.8)
    line = land.hill(sheet, rng, sheet.tall * (0.7 + 0.26 * near), 0.03, 2.5)
    tufts = np.abs(noise.line(rng, sheet.width, 70 * sheet.wide, 3, 0.7)) * np.float32(0.006 + 0.022 * near)
    sheet.lay(land.below(sheet, line - tufts), tone)


def mist(sheet: Sheet, palette: Palette, rng: Generator, near: float) -> None:
    drift = noise.cloud(sheet, rng, 3, 4, stretch=2.5)
    low = light.between(sheet.tall * 0.25, sheet.tall * 0.78, sheet.y)
    sheet.lay(drift * (0.25 + 0.75 * low), colour.mix(palette.sky[-1], palette.glow, 0.35), 0.5 * (1 - near))


def beams(sheet: Sheet, palette: Palette, rng: Generator, x: float) -> None:
    """From one place high above, broken by leaves we do not see."""
    top = -rng.uniform(0.2, 0.6)
    angle = np.arctan2(sheet.x - np.float32(x + rng.uniform(-0.3, 0.3)), sheet.y - np.float32(top))
    leaves = (noise.line(rng, 1024, 26, 3, 0.6) * 0.5 + 0.5).clip(0, 1).astype(np.float32)
    ray = leaves.take(((angle + 1.6) / 3.2 * 1023).clip(0, 1023).astype(np.intp))
    fade = light.between(sheet.tall * 1.05, sheet.tall * 0.1, sheet.y)
    sheet.shine(light.between(0.52, 0.95, ray) * fade, palette.glow, 0.34)


def fireflies(sheet: Sheet, palette: Palette, rng: Generator) -> None:
    for _ in range(int(rng.integers(18, 45))):
        x, y = sheet.wide * rng.random(), sheet.tall * rng.uniform(0.35, 0.95)
        size = rng.uniform(0.002, 0.006)
        around = sheet.part(x - 0.05, y - 0.05, x + 0.05, y + 0.05)
        falls = light.between(0.05, 0.02, light.distance(around, x, y))
        around.shine(light.glow(around, x, y, size) * falls, palette.glow, 1.0)
