"""The pixels of a picture that somebody gave us: checked before there is a decoder, and upright."""

from __future__ import annotations

import io
import struct
from contextlib import suppress

from PIL import Image

from glisk.images import jpeg
from glisk.images.container import Container, container
from glisk.images.part import Part

MOST_PIXELS = 1 << 24  # 4096 × 4096: 50 MB when decoded
EXIF = (jpeg.APP1, b"eXIf", b"EXIF")  # what the three formats call it
ORDERS = {b"II": "<", b"MM": ">"}
ORIENTATION = 0x0112
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def opened(data: bytes) -> Image.Image:
    """As people see it: a telephone writes how it was held beside the pixels, and browsers turn the picture. ValueError when there is
    none."""
    format = container(data)
    parts = format.parts(data)
    image, turn = loaded(format, parts), TURNS.get(orientation(parts))
    return image if turn is None else image.transpose(turn)


def loaded(format: Container, parts: list[Part]) -> Image.Image:
    """The size is checked before there is a decoder: some of them take memory for it at once."""
    width, height = format.size(parts)
    if not 0 < width * height <= MOST_PIXELS:
        raise ValueError(f"The picture would have {width} × {height} pixels")
    try:
        with Image.open(io.BytesIO(format.bare(parts)), formats=["PNG", "JPEG", "WEBP"]) as image:
            image.load()
            return image
    except (OSError, SyntaxError, EOFError) as broken:
        raise ValueError(f"The picture cannot be decoded: {broken}") from broken


def orientation(parts: list[Part]) -> int:
    """As its EXIF tells it; zero where there is none, or none that can be read."""
    told = (bytes(part.body).removeprefix(b"Exif\0\0") for part in parts if part.name in EXIF)
    found = next((each for each in told if each[:2] in ORDERS), b"")
    with suppress(KeyError, struct.error):
        order = ORDERS[found[:2]]
        (start,) = struct.unpack_from(f"{order}L", found, 4)
        (count,) = struct.unpack_from(f"{order}H", found, start)
        for n in range(count):
            tag, _, _, value = struct.unpack_from(f"{order}HHLH", found, start + 2 + 12 * n)
            if tag == ORIENTATION:
                return int(value)
    return 0


def as_png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()
