"""Can this be drawn at all? Asked before anybody is paid."""

from __future__ import annotations

import unicodedata

LONGEST = 1000  # code points, not bytes
# Of those that tell in which direction to read, the ones that turn round what stands between them.
TURNING = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
LAYOUT = frozenset("\t\n\r")  # of the control characters, those that people type


def prompt_problem(prompt: str | None, longest: int = LONGEST) -> str | None:
    """What is wrong with it, in words for its author. The prompt itself is never changed."""
    if prompt is None or not any(is_seen(char) for char in prompt):
        return "it is empty"
    if len(prompt) > longest:
        return f"it has {len(prompt)} characters, and {longest} are allowed"
    if control := next((char for char in prompt if is_control(char)), None):
        return f"it has the control character U+{ord(control):04X} in it"
    if turning := next((char for char in prompt if char in TURNING), None):
        return f"it has U+{ord(turning):04X} in it, which lets text look like another"
    return None


def is_seen(char: str) -> bool:
    """Neither a space nor one of those that only tell how others are shown."""
    return not char.isspace() and unicodedata.category(char) != "Cf"


def is_control(char: str) -> bool:
    """Half a surrogate pair is no character either: no provider can be sent it."""
    return unicodedata.category(char) in ("Cc", "Cs") and char not in LAYOUT
