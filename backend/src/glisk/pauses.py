"""For how long does a service want to be left alone? As its answer says: seconds, or a date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

SHORTEST, LONGEST = timedelta(seconds=1), timedelta(hours=1)  # none at all would be a busy loop


def asked(response: httpx.Response, in_body: Any = None) -> timedelta | None:
    """In its header, else in its body. None: it does not say."""
    for value in (response.headers.get("retry-after"), in_body):
        found = seconds_in(value)
        if found is None:
            found = until(value, response)
        if found is not None:
            return min(max(found, SHORTEST), LONGEST)
    return None


def seconds_in(value: Any) -> timedelta | None:
    try:
        return timedelta(seconds=float(value))
    except OverflowError:
        return LONGEST
    except (TypeError, ValueError):
        return None


def until(value: Any, response: httpx.Response) -> timedelta | None:
    """By the server's own clock if it shows it: ours may differ."""
    try:
        shown = response.headers.get("date")
        return parsedate_to_datetime(value) - (parsedate_to_datetime(shown) if shown else datetime.now(UTC))
    except (TypeError, ValueError):
        return None
