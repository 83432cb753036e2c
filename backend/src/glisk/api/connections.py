"""How did a connection end? By a goodbye, or broken off with something of ours unread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from uvicorn.protocols.http.h11_impl import H11Protocol

Client: TypeAlias = tuple[str, int]
OnEnd: TypeAlias = Callable[[bool], None]  # whether it was broken off


class Connections:
    """Whoever sends something that must arrive watches its connection; only the last who did so is told."""

    def __init__(self) -> None:
        self.watched: dict[Client, OnEnd] = {}

    def watch(self, client: Any, on_end: OnEnd) -> None:
        """Behind a proxy nobody knows how the other end fares."""
        if client and client[1]:
            self.watched[client[0], client[1]] = on_end

    def ended(self, client: Any, *, is_broken: bool) -> None:
        if client and (on_end := self.watched.pop((client[0], client[1]), None)):
            on_end(is_broken)

    def protocol(self) -> type[H11Protocol]:
        """For uvicorn: its own, which tells us."""
        connections = self

        class Heard(H11Protocol):
            def connection_lost(self, exc: Exception | None) -> None:
                connections.ended(self.client, is_broken=exc is not None)
                super().connection_lost(exc)

        return Heard
