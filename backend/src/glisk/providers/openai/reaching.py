"""On which terms is a service reached that speaks as OpenAI does, and how?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import httpx

from glisk.providers.prices import Price

REACH_S = 10.0


@dataclass(frozen=True, slots=True)
class Terms:
    url: str
    key: str = field(repr=False)
    model: str
    price: Price | None = None
    patience: timedelta = timedelta(minutes=5)  # an edit may take two


def client(terms: Terms) -> httpx.AsyncClient:
    """A kept connection that the server has ended meanwhile looks like an order whose answer was lost."""
    seconds = terms.patience.total_seconds()
    return httpx.AsyncClient(
        base_url=terms.url,
        headers={"Authorization": f"Bearer {terms.key}"} if terms.key else {},
        timeout=httpx.Timeout(seconds, connect=min(seconds, REACH_S)),
        limits=httpx.Limits(max_keepalive_connections=0),
    )
