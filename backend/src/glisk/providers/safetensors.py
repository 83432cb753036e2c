"""Is this file what it says, weights in the safetensors format? Only its head is read, and nothing in it is ever run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

LENGTH = 8  # of the number that begins the file
LONGEST_HEAD = 16 << 20
METADATA = "__metadata__"

Offset = Annotated[int, Meta(ge=0)]


class Tensor(Struct, frozen=True):
    dtype: str
    shape: list[Offset]
    data_offsets: tuple[Offset, Offset]


def problem(file: Path) -> str | None:
    """None: it is sound. The head names where every tensor lies, and together they fill the file to its end."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(LENGTH), "little")
        if size < LENGTH or not 0 < length <= min(LONGEST_HEAD, size - LENGTH):
            return "it does not begin as a safetensors file does"
        head = opened.read(length)
    try:
        found = msgspec.json.decode(head, type=dict[str, Any])
        tensors = msgspec.convert({name: each for name, each in found.items() if name != METADATA}, dict[str, Tensor])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return f"its head cannot be read: {error}"
    return misplaced([each.data_offsets for each in tensors.values()], size - LENGTH - length)


def misplaced(places: list[tuple[int, int]], size: int) -> str | None:
    """Neither a gap, nor two in one place, nor anything beyond the end."""
    at = 0
    for start, end in sorted(places):
        if start != at or end < start:
            return "its tensors do not lie one after the other"
        at = end
    if not places:
        return "it holds no tensors"
    return None if at == size else f"it should have {at:,} bytes of tensors, and has {size:,}"
