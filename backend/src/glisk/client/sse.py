"""Server-sent events, as they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from msgspec import Struct


class Event(Struct, frozen=True):
    kind: str
    data: str
    id: str = ""


async def events(lines: AsyncIterator[str]) -> AsyncGenerator[Event, None]:
    """One that is cut off is none."""
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields['data']}\n{value}" if name == "data" and "data" in fields else value
        else:
            if "data" in fields:
                yield Event(fields.get("event", "message"), fields["data"], fields.get("id", ""))
            fields = {}
