"""What the files of all formats are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST_PARTS = 10_000


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk or a segment: its name, what it holds, and all of its bytes in the file. What lies around them has no name."""

    name: bytes
    body: memoryview
    whole: memoryview


def unnamed(view: memoryview) -> Part:
    return Part(b"", view, view)


def joined(parts: Iterable[Part]) -> bytes:
    return b"".join(part.whole for part in parts)


def require_few(parts: list[Part]) -> None:
    """Millions of empty ones fit into a few megabytes, and take gigabytes when each is an object."""
    if len(parts) > MOST_PARTS:
        raise ValueError(f"The picture has more than {MOST_PARTS} parts")
