"""How far a burst of full claims has got, so that the next one need not walk over what was taken."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from glisk.engine.store import Floor

LONGEST_S = 1.0  # then everything is looked at again: a row may have become ready below the floor
ROUNDED_S = 0.001  # seconds in a number are not exact: the floor lies a little below


class Burst:
    def __init__(self) -> None:
        self.reached: Floor | None = None
        self.ends_at = 0.0

    def floor(self) -> Floor | None:
        return self.reached if time.monotonic() < self.ends_at else None

    def goes_on(self, rows: Sequence[Any], limit: int) -> None:
        """Told of every claim. One that was not full ends the burst."""
        if self.floor() is None:
            self.ends_at = time.monotonic() + LONGEST_S
        self.reached = (rows[-1]["priority"], rows[-1]["ready_since"] - ROUNDED_S) if len(rows) == limit else None
