"""What makes flat paint a picture: glow, depth at the rim, and the grain of paper."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from PIL import Image, ImageFilter

from glisk.providers.studio.colour import Colour, Plane
from glisk.providers.studio.sheet import Sheet


def between(low: float, high: float, field: Plane) -> Plane:
    """0 below `low`, 1 above `high`, and an eased way from one to the other. `low` may be the higher one."""
    share: Plane = ((field - np.float32(low)) * np.float32(1 / (high - low))).clip(0, 1)
    return share * share * (3 - 2 * share)


def distance(sheet: Sheet, x: float, y: float) -> Plane:
    return np.asarray(np.hypot(sheet.x - np.float32(x), sheet.y - np.float32(y)))


def disc(sheet: Sheet, x: float, y: float, radius: float, soft: float = 0.0) -> Plane:
    edge = max(soft, 1 / sheet.unit)
    return between(radius + edge / 2, radius - edge / 2, distance(sheet, x, y))


def glow(sheet: Sheet, x: float, y: float, radius: float) -> Plane:
    """Bright in the middle and never quite gone: what the air does to a lamp."""
    return np.float32(1) / (1 + (distance(sheet, x, y) / np.float32(radius)) ** 2)


def blurred(field: Plane, radius: float, coarser: int = 4) -> Plane:
    """Made smaller first: a blur has no detail to lose. The radius is in pixels."""
    image = Image.fromarray((field.clip(0, 1) * 255).astype(np.uint8))
    soft = image.reduce(coarser).filter(ImageFilter.GaussianBlur(radius / coarser))
    return np.asarray(soft.resize(image.size, Image.Resampling.BICUBIC)).astype(np.float32) / np.float32(255)


def moved(field: Plane, down: int, right: int) -> Plane:
    """So many pixels; what comes in at the edge is as the edge was."""
    height, width = field.shape
    return np.pad(field, ((down, 0), (right, 0)), mode="edge")[:height, :width]


def bloom(sheet: Sheet, strength: float, above: float = 0.72) -> None:
    """What is bright spills over its edge."""
    for plane in sheet.planes:
        spill = blurred((plane - np.float32(above)) / np.float32(1 - above), sheet.unit * 0.03, 8)
        plane += spill * np.float32(strength) * (1 - plane)


def vignette(sheet: Sheet, rng: Generator, strength: float) -> None:
    """Darker towards the rim, but never from the very middle: a lamp hangs somewhere."""
    x = sheet.x / np.float32(sheet.wide) - np.float32(rng.uniform(0.22, 0.78))
    y = sheet.y / np.float32(sheet.tall) - np.float32(rng.uniform(0.3, 0.6))
    sheet.shade(1 - np.float32(strength) * (2 * (x * x + y * y)).clip(0, 1) ** np.float32(1.3))


def grain(sheet: Sheet, rng: Generator, strength: float) -> None:
    """Strongest in the middle tones, as on film; it also hides the steps of eight bits."""
    noise = rng.standard_normal((sheet.height, sheet.width), dtype=np.float32) * np.float32(strength)
    for plane in sheet.planes:
        plane += noise * (0.35 + 2.6 * plane * (1 - plane))


def tooth(sheet: Sheet, rng: Generator, strength: float) -> None:
    """Paper that took the paint unevenly."""
    coarse = rng.standard_normal((sheet.height // 3 + 1, sheet.width // 3 + 1), dtype=np.float32)
    image = Image.fromarray(coarse).resize((sheet.width, sheet.height), Image.Resampling.BILINEAR)
    sheet.shade(1 + np.asarray(image) * np.float32(strength))


def wash(sheet: Sheet, table: Plane, top: float = 0.0, bottom: float | None = None) -> Plane:
    """A ramp from top to bottom, one column wide."""
    end = sheet.tall if bottom is None else bottom
    share = ((sheet.y - np.float32(top)) / np.float32(end - top)).clip(0, 1)
    return np.asarray(table.take((share * (table.shape[1] - 1)).astype(np.intp), axis=1))


def haze(sheet: Sheet, colour: Colour, top: float, bottom: float, strength: float) -> None:
    """Mist that thickens from `top` to `bottom` and ends there."""
    band = between(top, bottom, sheet.y) * (sheet.y < bottom)
    sheet.lay(np.broadcast_to(band, (sheet.height, sheet.width)), colour, strength)
