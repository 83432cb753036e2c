"""Can this be drawn at all? Asked before anybody is paid."""

from __future__ import annotations

import unicodedata

LONGEST = 1000  # code points, not bytes
LAYOUT = frozenset("\t\n\r")  # of the control characters, those that people type


def prompt_problem(prompt: str | None) -> str | None:
    """What is wrong with it, in words for its author. The prompt itself is never changed."""
    if prompt is None or not prompt.strip():
        return "it is empty"
    if len(prompt) > LONGEST:
        return f"it has {len(prompt)} characters, and {LONGEST} are allowed"
    if control := next((char for char in prompt if is_control(char)), None):
        return f"it has the control character U+{ord(control):04X} in it"
    return None


def is_control(char: str) -> bool:
    """Half a surrogate pair is no character either: no provider can be sent it."""
    return unicodedata.category(char) in ("Cc", "Cs") and char not in LAYOUT
