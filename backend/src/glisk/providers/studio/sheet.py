"""The sheet a scene is painted on: three planes of light from 0 to 1. Lengths are in short sides of it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import ceil
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw

from glisk.providers.studio.colour import Colour, Plane, flat

Points: TypeAlias = Sequence[tuple[float, float]] | Plane
BANDS = "CMYK"  # any four will do; of "RGBA" Pillow would weigh and unweigh the colours at every step
FINER = 2  # Pillow draws jagged; drawn finer and made smaller, an edge is smooth


class Sheet:
    def __init__(self, width: int, height: int) -> None:
        self.width, self.height, self.unit = width, height, min(width, height)
        self.wide, self.tall = width / self.unit, height / self.unit
        self.x: Plane = ((np.arange(width) + 0.5) / self.unit).astype(np.float32)[None, :]
        self.y: Plane = ((np.arange(height) + 0.5) / self.unit).astype(np.float32)[:, None]
        self.planes: Plane = np.zeros((3, height, width), dtype=np.float32)

    def part(self, left: float, top: float, right: float, bottom: float) -> Sheet:
        """A window onto the same sheet: what is painted on it is painted here. Lengths and places stay as they are."""
        part = copy(self)
        rows = slice(*self.pixels(top, bottom, self.height))
        columns = slice(*self.pixels(left, right, self.width))
        part.x, part.y, part.planes = self.x[:, columns], self.y[rows], self.planes[:, rows, columns]
        part.width, part.height = part.x.shape[1], part.y.shape[0]
        part.wide, part.tall = part.width / self.unit, part.height / self.unit
        return part

    def under(self, line: Plane | float) -> Sheet:
        """The part in which something lies below the line."""
        return self.part(0, float(np.min(line)) - 2 / self.unit, self.wide, self.tall)

    def pixels(self, start: float, end: float, most: int) -> tuple[int, int]:
        first = min(max(int(start * self.unit), 0), most - 1)
        return first, min(max(ceil(end * self.unit), first + 1), most)

    def cover(self, paint: Plane | Colour) -> None:
        self.planes[:] = paint if isinstance(paint, np.ndarray) else flat(paint)

    def lay(self, mask: Plane, paint: Plane | Colour, strength: float = 1.0) -> None:
        """Opaque paint where the mask is 1."""
        amount = mask if strength == 1.0 else mask * np.float32(strength)
        for plane, tone in zip(self.planes, paint, strict=True):
            plane += amount * (np.float32(tone) if isinstance(tone, float) else tone) - amount * plane

    def shine(self, mask: Plane, colour: Colour, strength: float = 1.0) -> None:
        """Light is added, and never more than white."""
        for plane, tone in zip(self.planes, colour, strict=True):
            plane += mask * np.float32(tone * strength) * (1 - plane)

    def shade(self, factor: Plane) -> None:
        self.planes *= factor

    def stick(self, ink: Ink, strength: float = 1.0, fur: Plane | None = None) -> None:
        """What was drawn with ink, onto the sheet; `fur` makes it lighter and darker in places."""
        *colours, alpha = ink.planes()
        for plane, tone in zip(self.planes, colours, strict=True):
            plane += ((tone if fur is None else tone * fur) - alpha * plane) * np.float32(strength)


class Ink:
    """Flat shapes with smooth edges, drawn over each other."""

    def __init__(self, sheet: Sheet) -> None:
        self.scale = sheet.unit * FINER
        self.left, self.top = float(sheet.x[0, 0]) - 0.5 / sheet.unit, float(sheet.y[0, 0]) - 0.5 / sheet.unit
        self.image = Image.new(BANDS, (sheet.width * FINER, sheet.height * FINER))
        self.pen = ImageDraw.Draw(self.image)

    def polygon(self, points: Points, colour: Colour) -> None:
        self.pen.polygon(self.flat(points), fill=bytes_of(colour))

    def line(self, points: Points, width: float, colour: Colour) -> None:
        self.pen.line(self.flat(points), bytes_of(colour), max(1, round(width * self.scale)), joint="curve")

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        self.oval(x, y, radius, radius, colour)

    def oval(self, x: float, y: float, across: float, down: float, colour: Colour) -> None:
        self.pen.ellipse(self.flat([(x - across, y - down), (x + across, y + down)]), fill=bytes_of(colour))

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        if right > left and bottom > top:
            self.pen.rectangle(self.flat([(left, top), (right, bottom)]), fill=bytes_of(colour))

    def flat(self, points: Points) -> list[float]:
        places = (np.asarray(points, np.float64) - (self.left, self.top)) * self.scale
        return places.ravel().tolist()

    def planes(self) -> list[Plane]:
        """Red, green, blue and how much of the paper is covered. Where nothing is, all are 0: that is premultiplied, so
        an edge takes no colour from what is not there."""
        small = self.image.reduce(FINER)
        return [np.asarray(band).astype(np.float32) * np.float32(1 / 255) for band in small.split()]


def bytes_of(colour: Colour) -> tuple[int, int, int, int]:
    red, green, blue = (round(min(max(tone, 0.0), 1.0) * 255) for tone in colour)
    return red, green, blue, 255
