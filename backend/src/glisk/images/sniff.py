"""What a file is: told by its first bytes, never by a header, a name or an address."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A format of pictures that Glisk takes."""

    mime: str
    extension: str


PNG, JPEG, WEBP = Format("image/png", "png"), Format("image/jpeg", "jpg"), Format("image/webp", "webp")
GIF, AVIF = Format("image/gif", "gif"), Format("image/avif", "avif")  # kept for people, not drawn
HEAD = 64  # bytes are enough to tell


def sniff(data: bytes) -> Format | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    return WEBP if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def sniff_any(data: bytes) -> Format | None:
    """Also of what Glisk keeps and shows, but does not draw."""
    if data.startswith((b"GIF87a", b"GIF89a")):
        return GIF
    return AVIF if data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"avis") else sniff(data)
