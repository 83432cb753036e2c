"""Long soft folds with light along their edges."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette = brief.palette
    cloth(sheet, palette, rng)
    folds, lean = int(rng.integers(6, 11)), rng.uniform(-0.5, 0.5)
    table = colour.ramp(dyes(palette, rng))
    for n in range(folds):
        fold(sheet, palette, rng, n / (folds - 1), lean, table)


def dyes(palette: Palette, rng: Generator) -> tuple[colour.Colour, ...]:
    one, two = palette.some(rng, 2, 4)
    return palette.sky[-1], palette.sky[2], one, two, palette.sky[1], palette.sky[0]


def cloth(sheet: Sheet, palette: Palette, rng: Generator) -> None:
    share = sheet.y / np.float32(sheet.tall) + (noise.cloud(sheet, rng, 1.4, 2) - 0.5) * np.float32(0.5)
    sheet.cover(colour.tint(share, colour.ramp((palette.glow, palette.sky[-1], palette.sky[2]))))


def fold(sheet: Sheet, palette: Palette, rng: Generator, near: float, lean: float, table: colour.Plane) -> None:
    """Lit at its edge, then its own colour, then dark where it goes under the next."""
    swing = noise.line(rng, sheet.width, 1.1 * sheet.wide, 2, 0.3) * np.float32(rng.uniform(0.08, 0.2))
    aslant = (sheet.x[0] - np.float32(0.5)) * np.float32(lean * 0.5)
    line = np.float32(sheet.tall * (0.12 + 0.8 * near)) + swing + aslant
    part = sheet.under(line)
    down = part.y - line[None, :]
    mask = (down * np.float32(sheet.unit) + 0.5).clip(0, 1)
    sheen = noise.cloud(part, rng, 1.6, 2, stretch=2)
    depth = (down / np.float32(0.55)).clip(0, 1)
    tone = colour.tint((near * 0.62 + depth * np.float32(0.34) + (sheen - 0.5) * np.float32(0.22)).clip(0, 1), table)
    part.lay(mask, tone, 0.93)
    part.shine(mask * np.exp(-down.clip(0, 9) * 26) * (0.35 + 0.65 * sheen), palette.glow, 0.62)
    above = sheet.part(0, float(line.min()) - 0.14, sheet.wide, float(line.max()))
    up = line[None, :] - above.y
    above.shade(1 - light.between(0.12, 0.0, up) * (up > 0) * np.float32(0.3))
