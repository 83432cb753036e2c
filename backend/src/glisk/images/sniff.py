"""What a file is: told by its first bytes, never by a header, a name or an address."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A format of pictures that Glisk takes."""

    mime: str
    extension: str


PNG, JPEG, WEBP = Format("image/png", "png"), Format("image/jpeg", "jpg"), Format("image/webp", "webp")


def sniff(data: bytes) -> Format | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    return WEBP if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
