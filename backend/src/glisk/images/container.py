"""Which code knows a file's format: each of png, jpeg and webp has the same functions."""

from __future__ import annotations

from typing import Protocol

from glisk.images import jpeg, png, webp
from glisk.images.part import Part
from glisk.images.sniff import JPEG, PNG, WEBP, Format, sniff


class Container(Protocol):
    """Takes files apart without decoding a pixel. What is truncated or malformed is a ValueError."""

    def parts(self, data: bytes) -> list[Part]: ...

    def size(self, parts: list[Part]) -> tuple[int, int]:
        """Width and height, as the header has them."""

    def is_still(self, parts: list[Part]) -> bool: ...

    def bare(self, parts: list[Part]) -> bytes:
        """A file of the same pixels, without metadata that could trouble a decoder."""

    def wordless(self, parts: list[Part]) -> bytes:
        """A file of the same pixels in the same colours, and nothing else: whatever its maker wrote into it is gone."""

    def packets(self, parts: list[Part]) -> list[bytes]:
        """Of XMP."""

    def spliced(self, parts: list[Part], packet: bytes) -> bytes:
        """The file with this packet of XMP, and no other."""


CONTAINERS: dict[Format, Container] = {PNG: png, JPEG: jpeg, WEBP: webp}


def container(data: bytes) -> Container:
    format = sniff(data)
    if format is None:
        raise ValueError(f"Not a PNG, JPEG or WebP: it begins with {data[:16]!r}")
    return CONTAINERS[format]
