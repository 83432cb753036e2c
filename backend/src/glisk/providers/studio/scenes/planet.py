"""A world with its rings, its moons and its weather."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, light, noise, sky
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Sheet


@dataclass(frozen=True, slots=True)
class World:
    """Where it hangs, how large, how it leans, and from where its sun shines."""

    x: float
    y: float
    radius: float
    lean: float
    sun: tuple[float, float, float]


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    palette, world = brief.palette, somewhere(sheet, rng)
    sky.space(sheet, palette, rng)
    if "ring" in brief.details or rng.random() < 0.6:
        band = rings(sheet, rng, world)
        tone = colour.mix(palette.glow, palette.accents[1], 0.45)
        sheet.lay(band, tone, 0.8)
        globe(sheet, palette, rng, world)
        front = band * (beside(sheet, world)[1] > 0)
        sheet.lay(front, tone, 0.85)
    else:
        globe(sheet, palette, rng, world)
    for _ in range(int(rng.integers(0, 4))):
        small = World(sheet.wide * rng.random(), sheet.tall * rng.random(), rng.uniform(0.012, 0.05), 0, world.sun)
        if np.hypot(small.x - world.x, small.y - world.y) > world.radius * 1.25:
            around = sheet.part(small.x - 0.1, small.y - 0.1, small.x + 0.1, small.y + 0.1)
            globe(around, palette, rng, small)


def somewhere(sheet: Sheet, rng: Generator) -> World:
    """Whole in the middle, or so near that it leaves the sheet."""
    angle, lean = rng.uniform(0, 2 * np.pi), rng.uniform(-0.6, 0.6)
    sun = float(np.cos(angle) * 0.72), float(np.sin(angle) * 0.4 - 0.3), 0.55
    if rng.random() < 0.35:
        x, y = sheet.wide * rng.uniform(0.1, 0.9), sheet.tall * rng.uniform(0.9, 1.1)
        return World(x, y, rng.uniform(0.5, 0.75), lean, sun)
    x, y = sheet.wide * rng.uniform(0.36, 0.64), sheet.tall * rng.uniform(0.38, 0.6)
    return World(x, y, rng.uniform(0.17, 0.3), lean, sun)


def beside(sheet: Sheet, world: World) -> tuple[Plane, Plane]:
    """Places as the world sees them: turned by its lean, one radius to the unit."""
    across = (sheet.x - np.float32(world.x)) / np.float32(world.radius)
    down = (sheet.y - np.float32(world.y)) / np.float32(world.radius)
    cos, sin = np.float32(np.cos(world.lean)), np.float32(np.sin(world.lean))
    return across * cos + down * sin, down * cos - across * sin


def rings(sheet: Sheet, rng: Generator, world: World) -> Plane:
    """Many thin ones with gaps, seen from the side."""
    across, down = beside(sheet, world)
    away = np.hypot(across, down / np.float32(rng.uniform(0.14, 0.38)))
    inner, outer = rng.uniform(1.25, 1.45), rng.uniform(1.9, 2.4)
    density = noise.line(rng, 512, 9, 5, 0.75) * np.float32(0.5) + np.float32(0.55)
    at = ((away - np.float32(inner)) / np.float32(outer - inner) * 511).clip(0, 511).astype(np.intp)
    edge: Plane = light.between(inner, inner + 0.04, away) * light.between(outer, outer - 0.05, away)
    return np.asarray(density.clip(0, 1).take(at)) * edge


def globe(sheet: Sheet, palette: Palette, rng: Generator, world: World) -> None:
    """Its surface, lit from one side, in a thin shell of air."""
    across, down = beside(sheet, world)
    away = across * across + down * down
    toward = np.sqrt((1 - away).clip(0, 1))
    lit = across * np.float32(world.sun[0]) + down * np.float32(world.sun[1]) + toward * np.float32(world.sun[2])
    day = light.between(-0.12, 0.75, lit)
    face = ((1 - np.sqrt(away)) * np.float32(world.radius * sheet.unit) + 0.5).clip(0, 1)
    skin = surface(palette, rng, across, down, toward)
    sheet.lay(face, skin * (0.03 + 0.97 * day) * (0.6 + 0.4 * toward))
    air = palette.sky[-1]
    sheet.shine(face * (1 - toward) ** 3 * day, air, 0.9)
    outside = np.exp(-((np.sqrt(away) - 1).clip(0, 9)) * 16) * (1 - face) * light.between(-0.2, 0.8, lit)
    sheet.shine(outside, air, 0.55)


def surface(palette: Palette, rng: Generator, across: Plane, down: Plane, toward: Plane) -> Plane:
    """Bands of weather, or land and sea."""
    latitude = np.arcsin(down.clip(-1, 1)) / np.float32(np.pi)
    longitude = np.arctan2(across, toward + np.float32(0.02)) / np.float32(np.pi)
    square = noise.tile(rng, 512, 4, 6, 0.58)
    weather = noise.looked_up(square, latitude * np.float32(rng.choice([0.8, 2.4])), longitude * np.float32(0.8))
    return gas(palette, rng, latitude, weather) if rng.random() < 0.55 else rock(palette, weather)


def gas(palette: Palette, rng: Generator, latitude: Plane, weather: Plane) -> Plane:
    bands = noise.line(rng, 512, 7, 4, 0.6)
    row = ((latitude + 0.5 + (weather - 0.5) * np.float32(0.09)) * 511).clip(0, 511).astype(np.intp)
    share = bands.take(row) * np.float32(0.42) + 0.5 + (weather - 0.5) * 0.2
    return colour.tint(share.clip(0, 1), colour.ramp(belt(palette, rng)))


def rock(palette: Palette, weather: Plane) -> Plane:
    shores = (palette.accents[3], palette.accents[0], palette.accents[1], palette.paper)
    land = colour.tint(weather, colour.ramp(shores, (0.45, 0.55, 0.7, 0.9)))
    sea = colour.tint(weather, colour.ramp(palette.sky[:3], (0, 0.35, 0.5)))
    return sea + (land - sea) * light.between(0.5, 0.53, weather)


def belt(palette: Palette, rng: Generator) -> tuple[Colour, ...]:
    colours = palette.some(rng, 3)
    return (colour.mix(palette.near, colours[0], 0.5), colours[0], palette.sky[-1], colours[1], palette.glow)
