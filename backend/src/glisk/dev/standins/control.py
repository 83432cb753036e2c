"""A stand-in as a test holds it: the same words whether it runs in a thread of ours or in another process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Ask: TypeAlias = Callable[[str, dict[str, Any]], Any]


class Control:
    def __init__(self, urls: Sequence[str], ask: Ask) -> None:
        self.urls, self.ask = list(urls), ask

    @property
    def url(self) -> str:
        return self.urls[0]

    def script(self, **scenario: Any) -> None:
        """The next call that fits behaves so; `times=3` the next three. Calls before them keep their order."""
        self.ask("scenario", scenario)

    def always(self, **scenario: Any) -> None:
        """Until the reset; what is scripted besides is laid over it."""
        self.script(times=None, **scenario)

    def log(self, call: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("log", {"call": call})
        return found

    def wait(self, call: str, at_least: int = 1) -> list[dict[str, Any]]:
        """Until so many of them have come. Not from within the event loop whose client is to make them."""
        found: list[dict[str, Any]] = self.ask("log", {"call": call, "at_least": at_least})
        return found

    async def reached(self, call: str, at_least: int = 1) -> list[dict[str, Any]]:
        return await asyncio.to_thread(self.wait, call, at_least)

    def charges(self) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("charges", {})
        return found

    def rates(self) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("rates", {})
        return found

    def limit(self, per_s: float | None, burst: int = 1, bucket: str = "create") -> None:
        self.ask("limits", {"per_s": per_s, "burst": burst, "bucket": bucket})

    def freeze(self) -> None:
        self.ask("clock", {"freeze": True})

    def flow(self) -> None:
        self.ask("clock", {"freeze": False})

    def advance(self, seconds: float) -> None:
        self.ask("clock", {"advance_s": seconds})

    def release(self, hold: str) -> None:
        self.ask("release", {"hold": hold})

    def reset(self) -> None:
        self.ask("reset", {})
