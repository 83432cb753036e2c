"""What people can see of any row of work, whichever table it is in: what happened to it, and what was paid for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from glisk.engine.link import Link

T = TypeVar("T")

AT_ONCE = 1000  # rows that one statement moves
TIMELINE = "SELECT at, from_status, to_status, actor, data FROM events WHERE item_id = $1 ORDER BY event_id"
ATTEMPTS = """
    SELECT started_at, finished_at, step, provider, model, seed::text, prompt_source, outcome, cost,
      details ->> 'gas' AS gas, wei::text, COALESCE(details ->> 'tx', receipt) AS receipt, error
    FROM attempts WHERE item_id = $1 ORDER BY attempt_id"""


class Board:
    def __init__(self, link: Link) -> None:
        self.link = link

    async def listed(self, sql: str, *arguments: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.link.fetch(sql, *arguments)]

    async def history(self, id: int) -> dict[str, list[dict[str, Any]]]:
        """Its `timeline`, and the `attempts` on it that cost money or changed the world."""
        events = await self.listed(TIMELINE, id)
        timeline = [event | {"data": event["data"] and json.loads(event["data"])} for event in events]
        return {"timeline": timeline, "attempts": await self.listed(ATTEMPTS, id)}


def in_batches(many: Sequence[T]) -> Iterator[Sequence[T]]:
    return (many[start : start + AT_ONCE] for start in range(0, len(many), AT_ONCE))
