"""Server-sent events as a browser reads them, and when there are no more to come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class Told:
    """What one block said; `kind` is empty where it is no event."""

    id: str = ""
    kind: str = ""
    data: Any = None
    comment: str = ""


@asynccontextmanager
async def following(
    browser: httpx.AsyncClient, path: str = "/events", **headers: str
) -> AsyncIterator[AsyncIterator[Told]]:
    """Its blocks, the greeting first."""
    async with browser.stream("GET", path, headers=headers, timeout=15) as answer:
        if answer.status_code != 200:
            await answer.aread()
            answer.raise_for_status()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield blocks(answer.aiter_lines())


async def blocks(lines: AsyncIterator[str]) -> AsyncIterator[Told]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        elif fields:
            data = fields.get("data")
            yield Told(
                fields.get("id", ""), fields.get("event", ""), json.loads(data) if data else None, fields.get("", "")
            )
            fields = {}


async def next_event(told: AsyncIterator[Told]) -> Told:
    async for each in told:
        if each.kind:
            return each
    raise AssertionError("it ended before anything happened")


async def settled(connection: Any) -> None:
    """All events until now are certain: a transaction of another test may hold back what we read for a moment."""
    mine = await connection.fetchval("SELECT coalesce(max(xact::text::bigint), 0) FROM events")
    async with asyncio.timeout(15):
        while await connection.fetchval("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint") <= mine:
            pass
