"""Pictures for tests, drawn from a seed: good ones of every kind a model draws, bad ones of every kind it must not get away
with, and copies that differ in what people do to copies."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Protocol, TypeAlias
from zlib import crc32

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

Pixels: TypeAlias = NDArray[np.float32]  # height × width × 3, 0 … 255
Colour: TypeAlias = tuple[int, int, int]
Brush: TypeAlias = Callable[[Generator, int], Pixels]  # squares of that side; other shapes are cut out of them

WHITE, BLACK, SIZE = (255, 255, 255), (0, 0, 0), (1024, 1024)


def good(seed: int, kind: str = "landscape", size: tuple[int, int] = SIZE, format: str = "webp") -> bytes:
    return encoded(picture(seed, kind, size), format)


def picture(seed: int, kind: str = "landscape", size: tuple[int, int] = SIZE) -> Image.Image:
    """Not encoded."""
    random = default_rng((seed, crc32(kind.encode())))
    return image(KINDS[kind](random, max(size))).crop((0, 0, *size))


def encoded(picture: Image.Image, format: str, quality: int = 90) -> bytes:
    """Lossy where the format can be."""
    file = io.BytesIO()
    picture.save(file, format, quality=quality)
    return file.getvalue()


def decoded(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def image(pixels: Pixels) -> Image.Image:
    return Image.fromarray(np.clip(pixels + 0.5, 0, 255).astype(np.uint8), "RGB")


def pixels(picture: Image.Image) -> Pixels:
    return np.asarray(picture.convert("RGB"), np.float32)


# What the kinds are made of.


def plain(side: int, colour: Colour) -> Pixels:
    return np.full((side, side, 3), colour, np.float32)


def clouds(random: Generator, side: int, finest: int = 512, roughness: float = 0.5) -> Pixels:
    """Fractal noise of one channel from 0 to 1: octaves from two cells to `finest` a side, each `roughness` as strong as the last."""
    total = np.zeros((side, side), np.float32)
    for octave in range(1, int(math.log2(min(finest, side))) + 1):
        cells = Image.fromarray(random.normal(size=(2**octave + 1, 2**octave + 1)).astype(np.float32))
        total += roughness**octave * np.asarray(cells.resize((side, side), Image.Resampling.BICUBIC))
    return stretched(total)


def slope(random: Generator, side: int) -> Pixels:
    """From 0 to 1 across the canvas, at any angle."""
    angle = random.uniform(0, 2 * math.pi)
    y, x = np.mgrid[0:side, 0:side].astype(np.float32) / side - 0.5
    return stretched(x * math.cos(angle) + y * math.sin(angle))


def stretched(values: Pixels) -> Pixels:
    """One channel, from 0 to 1."""
    low, high = values.min(), values.max()
    stretched: Pixels = ((values - low) / (high - low))[..., None]
    return stretched


def mixed(share: Pixels, low: Colour, high: Colour) -> Pixels:
    return np.array(low, np.float32) * (1 - share) + np.array(high, np.float32) * share


def tint(random: Generator, low: int = 0, high: int = 256) -> Colour:
    red, green, blue = (int(value) for value in random.integers(low, high, 3))
    return red, green, blue


def drawn(canvas: Pixels, draw: Callable[[ImageDraw.ImageDraw, int], None]) -> Pixels:
    """With smooth edges: drawn at twice the size."""
    side = 2 * len(canvas)
    large = image(canvas).resize((side, side), Image.Resampling.NEAREST)
    draw(ImageDraw.Draw(large), side)
    return pixels(large.reduce(2))


def disc(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float, fill: Colour) -> None:
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)


# The kinds.


def landscape(random: Generator, side: int) -> Pixels:
    canvas = mixed(clouds(random, side), tint(random, 120), tint(random, 120))
    rows = np.arange(side, dtype=np.float32)[:, None]
    for layer in range(4):
        heights = np.interp(np.linspace(0, 127, side), np.arange(128), clouds(random, 128)[layer, :, 0])
        ridge = side * (0.35 + 0.15 * layer + 0.4 * (heights - 0.5))
        ground = mixed(clouds(random, side, roughness=0.8), tint(random, 0, 160), tint(random, 40, 200))
        canvas = np.where((rows > ridge[None])[..., None], ground, canvas)
    return canvas


def nebula(random: Generator, side: int) -> Pixels:
    return np.concatenate([255 * clouds(random, side, roughness=0.6) for _ in range(3)], axis=2)


def portrait(random: Generator, side: int) -> Pixels:
    """A soft figure before a blurred ground."""
    canvas = mixed(clouds(random, side, 16), tint(random, 20, 120), tint(random, 90, 200))

    def figure(draw: ImageDraw.ImageDraw, n: int) -> None:
        x, y = random.uniform(0.35, 0.65, 2) * n
        draw.ellipse((x - 0.35 * n, y + 0.2 * n, x + 0.35 * n, y + n), fill=tint(random, 30, 180))
        draw.ellipse((x - 0.16 * n, y - 0.22 * n, x + 0.16 * n, y + 0.24 * n), fill=tint(random, 120, 230))

    soft = image(drawn(canvas, figure)).filter(ImageFilter.GaussianBlur(side / 60))
    return pixels(soft) * (0.8 + 0.4 * clouds(random, side, roughness=0.8))


def pastel(random: Generator, side: int) -> Pixels:
    """A soft gradient and nothing else."""
    return mixed(slope(random, side), tint(random, 180), tint(random, 180))


def circle(random: Generator, side: int) -> Pixels:
    """One small disc on white."""
    x, y = random.uniform(0.1, 0.9, 2)
    radius, fill = random.uniform(0.015, 0.06), tint(random, 0, 200)
    return drawn(plain(side, WHITE), lambda draw, n: disc(draw, x * n, y * n, radius * n, fill))


def line(random: Generator, side: int) -> Pixels:
    """One thin line on paper."""
    ends, ink = random.uniform(0.05, 0.95, 4), tint(random, 0, 120)
    width = max(1, round(side / 400))

    def stroke(draw: ImageDraw.ImageDraw, n: int) -> None:
        draw.line([float(end) * n for end in ends], fill=ink, width=2 * width)

    return drawn(plain(side, tint(random, 235)), stroke)


def night(random: Generator, side: int) -> Pixels:
    """A few stars on near-black."""
    canvas = mixed(slope(random, side), tint(random, 0, 8), tint(random, 4, 20))
    stars = random.uniform(0.03, 0.97, (int(random.integers(5, 20)), 2))

    def shine(draw: ImageDraw.ImageDraw, n: int) -> None:
        for x, y in stars:
            disc(draw, x * n, y * n, n * random.uniform(0.0012, 0.004), tint(random, 180))

    return drawn(canvas, shine)


def fog(random: Generator, side: int) -> Pixels:
    """Hardly any contrast."""
    ground = int(random.integers(150, 225))
    return plain(side, (ground, ground + 2, ground + 5)) + 24 * (clouds(random, side, 64, 0.45) - 0.5)


def texture(random: Generator, side: int) -> Pixels:
    """As detailed as it gets, and much the same everywhere: gravel."""
    grains = pixels(image(plain(side, BLACK) + random.uniform(0, 255, (side, side, 1)).astype(np.float32)))
    soft = pixels(image(grains).filter(ImageFilter.GaussianBlur(1.2)))
    contrast = (soft - soft.mean()) * 5 + 128
    return mixed(np.clip(contrast[..., :1] / 255, 0, 1), tint(random, 10, 90), tint(random, 150, 250))


def grain(random: Generator, side: int) -> Pixels:
    """A picture under strong film grain."""
    grey = landscape(random, side).mean(axis=2, keepdims=True) + random.normal(0, 22, (side, side, 1)).astype(
        np.float32
    )
    return np.repeat(grey, 3, axis=2)


def drawing(random: Generator, side: int) -> Pixels:
    """Black lines on white."""
    walks = np.cumsum(random.normal(0, 0.03, (12, 40, 2)), axis=1) + random.uniform(0.2, 0.8, (12, 1, 2))

    def strokes(draw: ImageDraw.ImageDraw, n: int) -> None:
        for walk in walks:
            draw.line(
                [(float(x) * n, float(y) * n) for x, y in walk], fill=BLACK, width=max(2, n // 340), joint="curve"
            )

    return drawn(plain(side, WHITE), strokes)


def pixel_art(random: Generator, side: int) -> Pixels:
    """A symmetrical sprite of 16 × 16 squares."""
    palette = np.array([tint(random) for _ in range(5)], np.uint8)
    half = random.integers(0, 4, (12, 6))
    cells = np.full((16, 16), 4)
    cells[2:14, 2:14] = np.concatenate([half, half[:, ::-1]], axis=1)
    return pixels(Image.fromarray(palette[cells]).resize((side, side), Image.Resampling.NEAREST))


def hatching(random: Generator, side: int) -> Pixels:
    """An engraving: tones from thin parallel lines."""
    tone = clouds(random, side, 32)[..., 0]
    y, x = np.mgrid[0:side, 0:side].astype(np.float32)
    ink = (np.sin((x + y) * 1.2) > 2.2 * tone - 0.6) | (np.sin((x - y) * 1.2) > 2.2 * tone + 0.1)
    return np.where(ink[..., None], plain(side, tint(random, 0, 60)), plain(side, tint(random, 230)))


def dither(random: Generator, side: int) -> Pixels:
    """A photograph in black and white dots."""
    return pixels(image(landscape(random, side)).convert("L").convert("1"))


def shapes(random: Generator, side: int) -> Pixels:
    """Flat colours, hard edges."""

    def cut(draw: ImageDraw.ImageDraw, n: int) -> None:
        for _ in range(7):
            points = [(float(x) * n, float(y) * n) for x, y in random.uniform(0, 1, (3, 2))]
            draw.polygon(points, fill=tint(random))
            x, y, radius = random.uniform(0, 1, 3) * n
            disc(draw, x, y, 0.03 * n + 0.12 * radius, tint(random))

    return drawn(plain(side, tint(random)), cut)


def stripes(random: Generator, side: int) -> Pixels:
    """Op art."""
    waves = slope(random, side) + 0.05 * clouds(random, side, 8)
    return mixed(
        (np.sin(waves * random.uniform(60, 160)) > 0).astype(np.float32), tint(random, 0, 90), tint(random, 160)
    )


def low_key(random: Generator, side: int) -> Pixels:
    """A dark room: one dim light, all else nearly black."""
    x, y = random.uniform(0.2, 0.8, 2)
    rows, columns = np.mgrid[0:side, 0:side].astype(np.float32) / side
    light = np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / random.uniform(0.01, 0.04))[..., None]
    return mixed(light * clouds(random, side, roughness=0.7), tint(random, 2, 9), tint(random, 60, 120))


def high_key(random: Generator, side: int) -> Pixels:
    """White on white."""
    return plain(side, (252, 251, 249)) - 30 * clouds(random, side, 32) ** 3


def mosaic(random: Generator, side: int) -> Pixels:
    small = image(landscape(random, 128)).resize((24, 24), Image.Resampling.BOX)
    tiles = pixels(small.resize((side, side), Image.Resampling.NEAREST))
    y, x = np.mgrid[0:side, 0:side] * 24 / side % 1
    return np.where((np.minimum(x, y) < 0.1)[..., None], plain(side, (40, 40, 40)), tiles)


def poster(random: Generator, side: int) -> Pixels:
    """Bars like lines of text."""

    def lines(draw: ImageDraw.ImageDraw, n: int) -> None:
        ink = tint(random, 0, 120)
        for row in range(3, 17):
            start, end = sorted(random.uniform(0.08, 0.92, 2) * n)
            draw.rectangle((start, row * n / 20, end + 4, (row + 0.5) * n / 20), fill=ink)

    return drawn(plain(side, tint(random, 200)), lines)


def snow(random: Generator, side: int) -> Pixels:
    """Many small flakes before a dull sky."""
    flakes = random.uniform(0, 1, (900, 3))

    def fall(draw: ImageDraw.ImageDraw, n: int) -> None:
        for x, y, depth in flakes:
            disc(draw, x * n, y * n, n * (0.001 + 0.004 * depth), (235, 238, 245))

    return drawn(mixed(clouds(random, side, 8), tint(random, 70, 120), tint(random, 120, 170)), fall)


def lone_figure(random: Generator, side: int) -> Pixels:
    """Someone small under a large sky."""
    x, y, ink = random.uniform(0.1, 0.9), random.uniform(0.5, 0.85), tint(random, 0, 60)

    def figure(draw: ImageDraw.ImageDraw, n: int) -> None:
        disc(draw, x * n, (y - 0.035) * n, 0.008 * n, ink)
        draw.rectangle(((x - 0.007) * n, (y - 0.028) * n, (x + 0.007) * n, y * n), fill=ink)

    return drawn(mixed(slope(random, side), tint(random, 170), tint(random, 170)), figure)


KINDS: dict[str, Brush] = {
    brush.__name__: brush
    for brush in (
        landscape, nebula, portrait, pastel, circle, line, night, fog, texture, grain, drawing, pixel_art, hatching, dither,
        shapes, stripes, low_key, high_key, mosaic, poster, snow, lone_figure,
    )
}  # fmt: skip


# What must not pass.


class Spoiler(Protocol):
    def __call__(self, seed: int, size: tuple[int, int] = SIZE) -> bytes: ...


def black(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    """As a safety filter answers."""
    return encoded(Image.new("RGB", size, (seed % 3,) * 3), any_format(seed))


def blank(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    return encoded(Image.new("RGB", size, tint(default_rng(seed), 40)), any_format(seed))


def grey(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    """Uniform, or nearly."""
    flat = np.full((size[1], size[0], 3), 60 + 17 * seed % 140, np.float32)
    return encoded(image(flat + default_rng(seed).normal(0, seed % 4, flat.shape).astype(np.float32)), any_format(seed))


def noise(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    """Of all colours, of grey, about one colour, or of black and white."""
    random, shape = default_rng(seed), (size[1], size[0], 3)
    every = random.uniform(0, 255, shape).astype(np.float32)
    about = (128 + random.normal(0, 25, shape)).astype(np.float32)
    choices = (
        every,
        np.repeat(every[..., :1], 3, axis=2),
        about,
        np.where(every[..., :1] > 128, 255.0, 0.0) + 0 * every,
    )
    return encoded(image(choices[seed % 4].astype(np.float32)), any_format(seed))


def truncated(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    whole = good(seed, "landscape", size, any_format(seed))
    return whole[: int(len(whole) * default_rng(seed).uniform(0.05, 0.99))]


def html(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    """What a server says instead: a page, a message, nothing."""
    page = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"
    return (page, b'{"detail": "Prediction expired"}', b"", b"\n\n<html>", b"GIF89a\1\0\1\0\0\0\0;")[seed % 5]


def wrong_size(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    width, height = size
    sizes = ((width, height * 3 // 4), (width // 2, height // 2), (width + 1, height), (height * 2, width))
    return good(seed, "nebula", sizes[seed % 4], any_format(seed))


def bomb(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    """A header that promises 2.5 gigapixels."""
    whole = bytearray(good(seed, "circle", size, "png"))
    whole[16:24] = (50_000).to_bytes(4, "big") * 2
    whole[29:33] = crc32(whole[12:29]).to_bytes(4, "big")
    return bytes(whole)


def dim(seed: int, size: tuple[int, int] = SIZE) -> bytes:
    """Something may be there, but nobody can see it."""
    return encoded(image(pixels(picture(seed, "nebula", size)) * 0.07), any_format(seed))


BAD: dict[str, Spoiler] = {
    "black": black, "grey": grey, "noise": noise, "blank": blank, "truncated": truncated, "html": html,
    "wrong_size": wrong_size, "bomb": bomb, "dim": dim,
}  # fmt: skip


def any_format(seed: int) -> str:
    return ("png", "jpeg", "webp")[seed % 3]


# What people do to copies. Amounts are for 1024 pixels a side and shrink with the picture.

Alteration: TypeAlias = Callable[[Image.Image, Generator], bytes]


def recompressed(picture: Image.Image, random: Generator) -> bytes:
    return encoded(picture, str(random.choice(["jpeg", "webp"])), int(random.integers(45, 95)))


def resized_and_back(picture: Image.Image, random: Generator) -> bytes:
    share = random.uniform(0.85, 0.97)
    smaller = picture.resize((round(picture.width * share), round(picture.height * share)), Image.Resampling.BICUBIC)
    return encoded(smaller.resize(picture.size, Image.Resampling.BICUBIC), "webp")


def relit(picture: Image.Image, random: Generator) -> bytes:
    """Brighter; darker where brighter would burn it out."""
    is_light = pixels(picture).mean() > 160
    share = random.uniform(0.93, 0.97) if is_light else random.uniform(1.03, 1.08)
    return encoded(ImageEnhance.Brightness(picture).enhance(share), "webp")


def shifted(picture: Image.Image, random: Generator) -> bytes:
    """What leaves on one side comes in again as a copy of the edge."""
    right, down = (int(step) for step in random.integers(-some(picture, 4), some(picture, 4) + 1, 2))
    grown = Image.fromarray(np.pad(np.asarray(picture), ((8, 8), (8, 8), (0, 0)), "edge"))
    return encoded(grown.crop((8 + right, 8 + down, 8 + right + picture.width, 8 + down + picture.height)), "png")


def cropped(picture: Image.Image, random: Generator) -> bytes:
    left, top, right, bottom = (int(step) for step in random.integers(0, some(picture, 4) + 1, 4))
    inner = picture.crop((left, top, picture.width - right, picture.height - bottom))
    return encoded(inner.resize(picture.size, Image.Resampling.BICUBIC), "webp")


def watermarked(picture: Image.Image, random: Generator) -> bytes:
    width, height = some(picture, 40), some(picture, 14)
    corner = (picture.width - width - some(picture, 20), picture.height - height - some(picture, 20))
    veil = Image.new("RGB", (width, height), (128, 128, 128))
    copy = picture.copy()
    copy.paste(veil, corner, Image.new("L", veil.size, int(random.integers(60, 100))))
    return encoded(copy, "webp")


def some(picture: Image.Image, pixels: int) -> int:
    return max(1, round(pixels * min(picture.size) / 1024))


ALTERATIONS: dict[str, Alteration] = {
    alter.__name__: alter for alter in (recompressed, resized_and_back, relit, shifted, cropped, watermarked)
}


def duplicate_of(data: bytes) -> bytes:
    """The same pixels in other bytes."""
    return encoded(decoded(data), "png")


def near_duplicate_of(data: bytes, seed: int) -> bytes:
    """Six seeds in a row alter it in six ways."""
    alter = list(ALTERATIONS.values())[seed % len(ALTERATIONS)]
    return alter(decoded(data), default_rng(seed))
