"""Users of the studio: whoever has a key, or whom an operator has named."""

from __future__ import annotations

from glisk.engine.store import Fetch

LONGEST = 200
WANTED = f"1 to {LONGEST} characters are wanted, without / and control characters"
KNOW = "INSERT INTO users (user_id) VALUES ($1) ON CONFLICT DO NOTHING"


async def know(fetch: Fetch, user_id: str) -> None:
    """In the transaction that first writes something of theirs."""
    await fetch(KNOW, user_id)


def is_name(text: str) -> bool:
    """One that can stand in an address and in a file's key."""
    is_plain = text.isprintable() and "/" not in text and text not in (".", "..") and text.strip() == text
    return is_plain and 1 <= len(text) <= LONGEST
