"""A face as carvers and printers make it: shapes, the same on both sides."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from glisk.providers.studio import colour, faces, light, noise
from glisk.providers.studio.brief import Brief
from glisk.providers.studio.faces import Paints
from glisk.providers.studio.figure import Figure
from glisk.providers.studio.palette import Palette
from glisk.providers.studio.sheet import Ink, Sheet


def paint(sheet: Sheet, brief: Brief, rng: Generator) -> None:
    paints = pots(brief.palette, rng)
    backdrop(sheet, brief.palette, rng, paints)
    ink = Ink(sheet)
    face = Figure(ink, sheet.wide / 2, sheet.tall * 0.52, rng.uniform(0.26, 0.31))
    faces.shoulders(face, rng, paints)
    faces.crown(face, rng, paints)
    wide, chin = faces.head(face, rng, paints)
    faces.ears(face, rng, paints, wide)
    faces.brow(face, rng, paints, wide)
    faces.eyes(face, rng, paints)
    faces.nose(face, rng, paints)
    faces.mouth(face, rng, paints, chin)
    faces.cheeks(face, rng, paints)
    cast(sheet, ink)
    sheet.stick(ink, fur=carved(sheet, rng))
    light.tooth(sheet, rng, 0.014)


def pots(palette: Palette, rng: Generator) -> Paints:
    order = palette.some(rng, 5)
    skin = colour.mix(order[0], palette.paper, rng.uniform(0.1, 0.55))
    return Paints(skin, colour.mix(skin, palette.ink, 0.22), order[1], order[2], order[3], palette.ink, palette.paper)


def backdrop(sheet: Sheet, palette: Palette, rng: Generator, paints: Paints) -> None:
    """Rays, rings, or a plain field with a disc behind the head."""
    x, y = sheet.wide / 2, sheet.tall * 0.45
    ground = colour.mix(palette.sky[int(rng.integers(4))], paints.pale, 0.15)
    other = palette.sky[int(rng.integers(1, 4))]
    kind, away = rng.integers(3), light.distance(sheet, x, y)
    if kind == 0:
        wave = np.sin(np.arctan2(sheet.y - np.float32(y), sheet.x - np.float32(x)) * int(rng.integers(9, 20)))
        field = light.between(-0.05, 0.05, wave) * light.between(0.1, 0.6, away)
    elif kind == 1:
        field = light.between(-0.1, 0.1, np.sin(away * np.float32(rng.uniform(40, 70))))
    else:
        field = light.disc(sheet, x, y, rng.uniform(0.38, 0.48))
    field = field + (noise.cloud(sheet, rng, 3, 3) - 0.5) * np.float32(0.12)
    sheet.cover(colour.tint(field.clip(0, 1), colour.ramp((ground, colour.mix(other, ground, 0.35)))))


def cast(sheet: Sheet, ink: Ink) -> None:
    """Its shadow on the wall."""
    far = max(1, sheet.unit // 60)
    soft = light.blurred(ink.planes()[3], sheet.unit / 40)
    sheet.shade(1 - light.moved(soft, far, far) * np.float32(0.4))


def carved(sheet: Sheet, rng: Generator) -> colour.Plane:
    """The grain of wood, and light from the left."""
    wood = noise.cloud(sheet, rng, 22, 3, stretch=0.12) - 0.5
    return (1.07 - sheet.x / np.float32(sheet.wide) * np.float32(0.16) + wood * np.float32(0.1)).astype(np.float32)
