"""What is over the horizon: air, sun or moon, clouds, stars, birds."""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise
from glisk.providers.studio.colour import Colour
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet

WHITE: Colour = (1.0, 1.0, 1.0)


def air(sheet: Sheet, palette: Palette, rng: Generator, horizon: float) -> None:
    """From the zenith down to the horizon, not quite even."""
    share = sheet.y / np.float32(horizon) + (noise.cloud(sheet, rng, 2, 3, stretch=3) - 0.5) * np.float32(0.16)
    sheet.cover(colour.tint(share, colour.ramp(palette.sky)))


def sun(sheet: Sheet, palette: Palette, x: float, y: float, radius: float) -> None:
    """White in a rich sky, and a colour of its own in a pale one."""
    is_pale = colour.lightness(palette.sky[-1]) > 0.9
    disc = colour.mix(palette.accents[0], palette.glow, 0.3) if is_pale else colour.mix(palette.glow, WHITE, 0.35)
    sheet.shine(light.glow(sheet, x, y, radius * 1.9), colour.mix(palette.glow, disc, 0.3), 0.75)
    sheet.shine(light.glow(sheet, x, y, radius * 7) ** 2, palette.sky[-1], 0.5)
    sheet.lay(light.disc(sheet, x, y, radius, 0.003), disc, 0.97)


def moon(sheet: Sheet, palette: Palette, rng: Generator, x: float, y: float, radius: float) -> None:
    """Full with its seas, or a crescent."""
    sheet.shine(light.glow(sheet, x, y, radius * 1.5), palette.glow, 0.4)
    face = light.disc(sheet, x, y, radius, 0.003)
    if rng.random() < 0.4:
        face = face * (1 - light.disc(sheet, x + radius * 0.42, y - radius * 0.2, radius * 0.92, 0.004))
    seas = light.between(0.5, 0.75, noise.cloud(sheet, rng, 1.6 / radius, 3)) * np.float32(0.16)
    sheet.lay(face * (1 - seas), colour.mix(palette.glow, WHITE, 0.5))


def stars(sheet: Sheet, rng: Generator, count: int, bottom: float, tone: Colour = WHITE) -> None:
    """Few bright ones and many faint; fewer towards the horizon."""
    field = np.zeros((sheet.height, sheet.width), dtype=np.float32)
    rows = (rng.random(count) ** 1.3 * min(bottom, sheet.tall) * sheet.unit).astype(np.intp).clip(2, sheet.height - 3)
    columns = rng.integers(2, sheet.width - 2, count)
    power = (rng.random(count) ** 6 * 0.95 + 0.05).astype(np.float32)
    for down, right, share in ((0, 0, 1.0), (0, 1, 0.45), (1, 0, 0.45), (0, -1, 0.45), (-1, 0, 0.45)):
        np.maximum.at(field, (rows + down, columns + right), power * np.float32(share))
    sheet.shine(field, tone)


def clouds(sheet: Sheet, palette: Palette, rng: Generator, horizon: float, amount: float) -> None:
    """Streaks, lit from below where the sun has gone and grey on their upper side."""
    field = noise.cloud(sheet, rng, 3.5, 5, stretch=3.5)
    low = light.between(0, horizon * 0.45, sheet.y) * light.between(horizon * 1.02, horizon * 0.8, sheet.y)
    mask = light.between(0.78 - amount * 0.4, 1.02 - amount * 0.25, field) * low
    lit = colour.mix(palette.sky[-1], palette.glow, 0.6)
    sheet.lay(mask, lit, 0.6)
    under = light.between(0.0, 0.25, np.roll(field, -max(1, sheet.height // 60), axis=0) - field)
    sheet.lay(mask * under, palette.sky[1], 0.55)


def heaps(sheet: Sheet, palette: Palette, rng: Generator, horizon: float, count: int) -> None:
    """Summer clouds: flat below, heaped above, bright on their crowns."""
    for _ in range(count):
        x, base, size = sheet.wide * rng.random(), horizon * rng.uniform(0.15, 0.95), rng.uniform(0.05, 0.15)
        part = sheet.part(x - size * 3, base - size * 2, x + size * 3, base)
        tone = colour.mix(colour.mix(palette.glow, WHITE, 0.5), palette.sky[-1], rng.uniform(0, 0.5))
        crown = light.between(base + size * 0.3, base - size * 0.9, part.y)
        part.stick(heap(part, rng, x, base, size, tone), rng.uniform(0.6, 0.9), fur=0.86 + 0.16 * crown)


def heap(part: Sheet, rng: Generator, x: float, base: float, size: float, tone: Colour) -> Ink:
    ink = Ink(part)
    for away in rng.normal(0, 0.9, 14).tolist():
        radius = size * (rng.uniform(0.35, 0.85) * exp(-away * away / 2) + 0.12)
        ink.disc(x + away * size, base - size * 0.1, radius, tone)
    return ink


def birds(sheet: Sheet, rng: Generator, x: float, y: float, size: float, tone: Colour) -> None:
    """A flock: two strokes each."""
    ink = Ink(sheet)
    for _ in range(int(rng.integers(4, 10))):
        left, top = x + rng.normal(0, size * 4), y + rng.normal(0, size * 2)
        span, lift = size * rng.uniform(0.5, 1.1), rng.uniform(0.15, 0.5)
        wing = np.linspace(0, 1, 8)
        for side in (-1, 1):
            bow = top - np.sin(wing * 2.4) * span * lift
            ink.line(np.stack([left + side * wing * span, bow], axis=1).astype(np.float32), size * 0.09, tone)
    sheet.stick(ink, 0.85)


def space(sheet: Sheet, palette: Palette, rng: Generator) -> None:
    """Space is not black: far gas, dust before it, and stars."""
    dark = colour.at_lightness(palette.ink, 0.12)
    gas = noise.cloud(sheet, rng, 2.5, 6, gain=0.58)
    aside = (noise.cloud(sheet, rng, 2, 4) - 0.5) * np.float32(sheet.unit * 0.5)
    dense = noise.bent(gas, aside, noise.bent(aside, aside, aside)) * noise.cloud(sheet, rng, 1.3, 3)
    hue, other = colour.at_lightness(palette.sky[1], 0.32), palette.accent(rng, 4)
    table = colour.ramp((dark, hue, colour.mix(hue, other, 0.6), colour.at_lightness(other, 0.75)), (0, 0.45, 0.8, 1))
    sheet.cover(colour.tint(light.between(0.08, 0.85, dense), table))
    stars(sheet, rng, int(rng.integers(1400, 3000)), sheet.tall)
