"""The stand-ins of the pinning services as a test holds them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from glisk.dev.standins import running
from glisk.dev.standins.control import Control
from glisk.dev.standins.kubo import Kubo
from glisk.dev.standins.pinata import Pinata


class PinControl(Control):
    def pins(self) -> list[dict[str, Any]]:
        """In the order they were made; Pinata's with their `name` and `network`."""
        found: list[dict[str, Any]] = self.ask("pins", {})
        return found

    def cids(self) -> list[str]:
        return [pin["cid"] for pin in self.pins()]

    def drop(self, cid: str) -> None:
        """As services do that lose things: without a word."""
        self.ask("drop", {"cid": cid})


def pinata() -> AbstractContextManager[PinControl]:
    return running.in_thread(Pinata(), PinControl)


def kubo(auth: str = "") -> AbstractContextManager[PinControl]:
    return running.in_thread(Kubo(auth), PinControl)
