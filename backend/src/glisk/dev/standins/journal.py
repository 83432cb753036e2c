"""What a stand-in was asked and what it charged: the two things a test wants to know afterwards."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

LONGEST_LOG = 100_000


@dataclass(slots=True)
class Entry:
    """`status` is None while the call is under way, and for one that got no answer."""

    number: int
    at: str
    call: str
    method: str
    path: str
    query: str
    headers: dict[str, str]
    has_token: bool
    prompt: str = ""
    seed: int | None = None
    subject: str = ""  # the id of what the call made or asked for
    status: int | None = None
    fault: str = ""


class Journal:
    def __init__(self) -> None:
        self.grown = asyncio.Condition()
        self.clear()

    def clear(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=LONGEST_LOG)
        self.count = 0

    async def add(self, entry: Entry) -> None:
        self.count += 1
        self.entries.append(entry)
        async with self.grown:
            self.grown.notify_all()

    def of(self, call: str) -> list[Entry]:
        return [entry for entry in self.entries if call in ("", entry.call)]

    async def until(self, call: str, at_least: int) -> None:
        async with self.grown:
            await self.grown.wait_for(lambda: len(self.of(call)) >= at_least)


@dataclass(slots=True)
class Tally:
    """Counts by what identifies an order to us: its seed and its prompt."""

    total: int = 0
    by_seed: Counter[str] = field(default_factory=Counter)
    by_prompt: Counter[str] = field(default_factory=Counter)

    def clear(self) -> None:
        self.total = 0
        self.by_seed.clear()
        self.by_prompt.clear()

    def add(self, seed: int | None, prompt: str) -> None:
        self.total += 1
        self.by_seed[str(seed)] += 1
        self.by_prompt[prompt] += 1

    def shown(self) -> dict[str, Any]:
        return {"total": self.total, "by_seed": dict(self.by_seed), "by_prompt": dict(self.by_prompt)}
