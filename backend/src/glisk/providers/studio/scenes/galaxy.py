"""A spiral of stars and dust, seen aslant."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette = brief.palette
    sky.space(sheet, palette, rng)
    sheet.shade(np.full((1, 1), 0.8, np.float32))
    away, angle = disc(sheet, rng)
    arms(sheet, palette, rng, away, angle)
    core(sheet, palette, away)


def disc(sheet: Sheet, rng: Generator) -> tuple[Plane, Plane]:
    """Distance and angle of every point in the plane of the galaxy."""
    lean, flat = rng.uniform(0, np.pi), rng.uniform(0.42, 0.95)
    x = sheet.x - np.float32(sheet.wide * rng.uniform(0.4, 0.6))
    y = sheet.y - np.float32(sheet.tall * rng.uniform(0.4, 0.6))
    across = x * np.float32(np.cos(lean)) + y * np.float32(np.sin(lean))
    down = (y * np.float32(np.cos(lean)) - x * np.float32(np.sin(lean))) / np.float32(flat)
    size = np.float32(rng.uniform(0.48, 0.7))
    return np.asarray(np.hypot(across / size, down / size)), np.asarray(np.arctan2(down, across))


def arms(sheet: Sheet, palette: Palette, rng: Generator, away: Plane, angle: Plane) -> None:
    """Bright along logarithmic spirals, torn by turbulence, with dark lanes on their inner side."""
    count, wind = int(rng.integers(2, 4)), rng.choice([-1, 1]) * rng.uniform(1.5, 3.6)
    square = noise.tile(rng, 512, 6, 5, 0.6)
    turn = angle + np.log(away + np.float32(0.06)) * np.float32(wind)
    torn = noise.looked_up(square, away * np.float32(0.55), turn / np.float32(2 * np.pi)) - np.float32(0.5)
    fine = noise.looked_up(square, away * np.float32(2.0) + torn, turn * np.float32(3 / (2 * np.pi)) + torn)
    wave = np.cos(turn * count + torn * np.float32(3.4))
    fade = np.exp(-((away * np.float32(1.25)) ** 2))
    gas = light.between(-0.7, 1.2, wave + (fine - 0.5) * np.float32(1.6)) * fade
    hues = palette.some(rng, 2)
    sheet.shine(fade * np.float32(0.5), colour.at_lightness(palette.sky[2], 0.5), 0.7)
    sheet.shine(gas * light.between(1.3, 0.1, away), colour.at_lightness(hues[0], 0.68), 1.0)
    sheet.shine(
        gas**2 * light.between(0.4, 0.75, fine), colour.at_lightness(colour.turned(hues[1], 0, richer=1.3), 0.75), 1.2
    )
    lanes = light.between(0.5, 0.95, np.cos(turn * count + 0.9 + torn * np.float32(4))) * fade
    sheet.shade(1 - lanes * np.float32(0.55) * light.between(0.08, 0.3, away))
    dust = (rng.random(gas.shape, dtype=np.float32) < gas * np.float32(0.05)).astype(np.float32)
    sheet.shine(dust, colour.mix(hues[1], (1.0, 1.0, 1.0), 0.7), 0.8)


def core(sheet: Sheet, palette: Palette, away: Plane) -> None:
    sheet.shine(np.exp(-away * 5.5), palette.glow, 0.8)
    sheet.shine(np.exp(-away * 17), (1.0, 0.98, 0.94), 1.0)
