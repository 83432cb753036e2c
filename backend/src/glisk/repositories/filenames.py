"""Names of files, as people may give them and as they can be kept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

LONGEST = 200  # characters
NAMELESS = "file"
LONGEST_ENDING = 20


def safe(given: str) -> str:
    """Of what somebody calls their file: no folders, nothing invisible, one way to write each letter, not too long."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    seen = "".join(letter if letter.isprintable() else " " if letter.isspace() else "" for letter in last)
    name = " ".join(seen.split()).strip(" .") if seen.strip(" .") else ""
    return cut(name, LONGEST) or NAMELESS


def free(name: str, taken: Collection[str]) -> str:
    """The name itself, or the first of name-2, name-3, … that nobody has."""
    stem, ending = split(name)
    number, found = 1, name
    while found in taken:
        number += 1
        mark = f"-{number}"
        found = f"{stem[: LONGEST - len(mark) - len(ending)]}{mark}{ending}"
    return found


def cut(name: str, length: int) -> str:
    stem, ending = split(name)
    return f"{stem[: length - len(ending)]}{ending}".strip()


def split(name: str) -> tuple[str, str]:
    """`.png` is an ending, unless it is all there is, or too long to be one."""
    stem, dot, ending = name.rpartition(".")
    return (stem, dot + ending) if stem and len(ending) < LONGEST_ENDING else (name, "")
