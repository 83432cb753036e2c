"""Stone or ink that ran: one field bent by another, and a vein of metal where they part."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette = brief.palette
    run, aside = poured(sheet, rng)
    bands = rng.uniform(1.2, 3.2)
    layers = noise.ridged(run * np.float32(bands * 9) % 1) * np.float32(0.09)
    share = noise.spread(noise.ridged(run * np.float32(bands) % 1) * np.float32(0.6) + run * np.float32(0.7) + layers)
    sheet.cover(colour.tint(share, colour.ramp(inks(palette, rng))))
    relief(sheet, run)
    veins(sheet, palette, run, aside)


def poured(sheet: Sheet, rng: Generator) -> tuple[Plane, Plane]:
    """Bent twice: once makes waves, twice makes eddies."""
    cells, far = rng.uniform(1.2, 2.4), np.float32(sheet.unit * rng.uniform(0.35, 0.7))
    base, first, second = (noise.cloud(sheet, rng, cells, octaves, gain=0.45) for octaves in (5, 4, 3))
    aside = noise.bent(first, (second - 0.5) * far, (first - 0.5) * far)
    return noise.bent(base, (aside - 0.5) * far, (second - 0.5) * far), aside


def inks(palette: Palette, rng: Generator) -> tuple[Colour, ...]:
    one, two = palette.some(rng, 2)
    if rng.random() < 0.5:
        return palette.ink, palette.sky[0], palette.key, one, palette.sky[2], palette.paper
    return palette.paper, palette.sky[-1], palette.key, one, palette.sky[0], two


def relief(sheet: Sheet, run: Plane) -> None:
    """Light from the upper left, as on something poured thick."""
    step = max(1, sheet.unit // 256)
    slope = (np.roll(run, step, axis=0) - run) + (np.roll(run, step, axis=1) - run)
    slope[:step], slope[:, :step] = 0, 0
    sheet.shade(1 - (slope * np.float32(6)).clip(-0.22, 0.22))


def veins(sheet: Sheet, palette: Palette, run: Plane, aside: Plane) -> None:
    """Thin where the land is steep; it glitters unevenly."""
    gold = colour.mix(palette.glow, palette.accents[1], 0.35)
    for level, width in ((0.42, 0.006), (0.61, 0.0035), (0.27, 0.0025)):
        line = light.between(width, width * 0.4, np.abs(run - np.float32(level)))
        sheet.lay(line * (0.55 + 0.45 * noise.ridged(aside * 3 % 1)), gold, 0.9)
