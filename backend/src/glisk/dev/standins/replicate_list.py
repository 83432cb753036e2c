"""Replicate's list of predictions: the newest first, a hundred a page, and links that stay right while more come."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from glisk.dev.standins.replicate_prediction import Prediction, row
from glisk.dev.standins.timeline import A_SECOND, moment

PAGE = 100


def page(predictions: Sequence[Prediction], query: Mapping[str, str], now: int, url: str) -> dict[str, Any]:
    """ValueError when the query cannot be understood."""
    after, before = (moment(query[name]) if name in query else None for name in ("created_after", "created_before"))
    found = [] if query.get("source") == "web" else [each for each in reversed(predictions) if is_listed(each, now)]
    found = [each for each in found if (after or 0) <= each.created_at < (before or now + 1)]
    start = position(found, query.get("cursor", ""))
    rows, rest = found[start : start + PAGE], found[start + PAGE :]

    def link(sign: str, numbered: Prediction) -> str:
        cursor = base64.urlsafe_b64encode(f"{sign}{numbered.number}".encode()).decode()
        return f"{url}/v1/predictions?{urlencode({**query, 'cursor': cursor})}"

    return {
        "previous": link(">", rows[0]) if start and rows else None,
        "next": link("<", rows[-1]) if rest else None,
        "results": [row(prediction, now, url) for prediction in rows],
    }


def is_listed(prediction: Prediction, now: int) -> bool:
    return now >= prediction.created_at + round(prediction.plan.listed_after_s * A_SECOND)


def position(found: Sequence[Prediction], cursor: str) -> int:
    """A cursor names its neighbour, not a place: places shift with every new prediction."""
    if not cursor:
        return 0
    text = base64.urlsafe_b64decode(cursor).decode()
    sign, number = text[0], int(text[1:])
    older = sum(1 for prediction in found if prediction.number >= number)
    return older if sign == "<" else max(0, older - 1 - PAGE)
