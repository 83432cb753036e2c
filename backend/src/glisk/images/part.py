"""What the files of all formats are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
