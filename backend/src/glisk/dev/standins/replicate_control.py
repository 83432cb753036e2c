"""Replicate's stand-in as a test holds it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from glisk.dev.standins import running
from glisk.dev.standins.control import Control
from glisk.dev.standins.replicate import Replicate


class ReplicateControl(Control):
    @property
    def files_url(self) -> str:
        return self.urls[1]

    def predictions(self) -> list[dict[str, Any]]:
        """In the order they were created; with `charged`, and never erased."""
        found: list[dict[str, Any]] = self.ask("predictions", {})
        return found

    def go(self, *, to: str = "end", **chosen: Any) -> None:
        """Those with this `id`, this `seed`, this text in the `prompt` start, and end unless it is `to="start"`."""
        self.ask("go", {"to": to, **chosen})

    def webhooks(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("webhooks", {})
        return found

    def upload(self, name: str, data: bytes) -> None:
        """For scenarios with `picture=name`."""
        self.ask("pictures", {"name": name, "data": data})


def in_thread() -> AbstractContextManager[ReplicateControl]:
    return running.in_thread(Replicate(), ReplicateControl)


def as_process() -> AbstractContextManager[ReplicateControl]:
    """For who measures: it shares no interpreter with what is measured."""
    return running.as_process(Replicate.name, Replicate.doors, ReplicateControl)
