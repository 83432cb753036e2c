"""The part of a file that a request asks for (RFC 9110, section 14)."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from glisk.storage.objects import Part

# Of several parts at once we send the whole, as the standard lets us. More digits than these have no meaning.
ONE_PART = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
Wanted: TypeAlias = Part | Literal["whole", "beyond the end"]


def wanted(header: str, size: int) -> Wanted:
    match = ONE_PART.fullmatch(header.replace(" ", ""))
    if not match or match[0] == "bytes=-":
        return "whole"
    first, last = match.groups()
    if not first:
        return from_the_end(int(last), size)
    if last and int(last) < int(first):
        return "whole"  # senseless, so it counts as not asked
    start, stop = int(first), min(int(last) + 1, size) if last else size
    return Part(start, stop) if start < size else "beyond the end"


def from_the_end(length: int, size: int) -> Wanted:
    return Part(max(0, size - length), size) if length and size else "beyond the end"
