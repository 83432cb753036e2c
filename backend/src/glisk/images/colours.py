"""The colours that people name: what a red area is, and what "blue" means in a wish."""

from __future__ import annotations

import re
from typing import TypeAlias

Colour: TypeAlias = tuple[int, int, int]

# In the order in which the areas of a picture get them.
COLOR_NAMES: dict[str, Colour] = {
    "red": (220, 38, 38),
    "blue": (37, 99, 235),
    "green": (22, 163, 74),
    "yellow": (250, 204, 21),
    "orange": (249, 115, 22),
    "purple": (147, 51, 234),
    "pink": (244, 114, 182),
    "cyan": (6, 182, 212),
    "brown": (120, 72, 40),
    "white": (245, 245, 240),
    "grey": (128, 128, 128),
    "black": (28, 28, 30),
}
SPELLINGS = {"gray": "grey", "violet": "purple", "turquoise": "cyan"}


def named(text: str) -> list[str]:
    """The colours in it, in the order of their words."""
    words = (SPELLINGS.get(word, word) for word in re.findall(r"[a-z]+", text.casefold()))
    return [word for word in words if word in COLOR_NAMES]
