"""The name of an object: what is in it, and of what kind it is. The same bytes always have the same key."""

from __future__ import annotations

import re
from dataclasses import dataclass

from glisk.errors import BadObjectKey

# One level of 256 directories: four thousand files each for a million images, which no file system minds.
SHAPE = re.compile(r"sha256/([0-9a-f]{2})/(\1[0-9a-f]{62})\.([a-z0-9]{1,8})")
# Only what a browser may show without harm. An SVG or a page could run scripts in our name, so they are mere bytes.
MIMES = {
    "avif": "image/avif",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "png": "image/png",
    "webp": "image/webp",
}


@dataclass(frozen=True, slots=True)
class Key:
    sha256: str
    extension: str

    def __str__(self) -> str:
        return f"sha256/{self.sha256[:2]}/{self.sha256}.{self.extension}"

    @property
    def filename(self) -> str:
        return f"{self.sha256}.{self.extension}"

    @property
    def mime(self) -> str:
        return MIMES.get(self.extension, "application/octet-stream")


def named(sha256: str, extension: str) -> Key:
    return parsed(str(Key(sha256, extension)))


def parsed(text: str) -> Key:
    """Whatever comes from outside: nothing but our own shape gets through."""
    if not (match := SHAPE.fullmatch(text)):
        raise BadObjectKey(f"It was {text[:100]!r}.")
    return Key(match[2], match[3])
