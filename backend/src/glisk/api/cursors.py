"""A place in a list, as clients carry it from one page to the next: nothing to be read by them, and only what we wrote ourselves."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from glisk.errors import BadQuery

T = TypeVar("T")
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def packed(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def unpacked(cursor: str, read: Callable[[str], T], write: Callable[[T], str]) -> T:
    """`read` raises ValueError for what is no place. Raises BadQuery."""
    try:
        place = read(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii"))
        if packed(write(place)) == cursor:
            return place
    except (binascii.Error, ValueError, OverflowError):
        pass
    raise BadQuery(
        "cursor: this is none of ours.", fix="Take `next` of the page before; without one you get the first."
    )


def moment(at: datetime, key: object) -> str:
    """Where lists are in the order of time: behind the one of this key, which was made then."""
    return f"{(at - EPOCH) // MICROSECOND}-{key}"


def moment_in(place: str) -> tuple[datetime, str]:
    micros, _, key = place.partition("-")
    return EPOCH + int(micros) * MICROSECOND, key
