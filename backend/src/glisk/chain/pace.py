"""How a contract is followed: how sure one wants to be, and how often one looks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Pace:
    confirmations: int = 10  # a block is read a second time, and counts, when so many have come after it
    poll: timedelta = timedelta(seconds=1)  # between looks at the head, besides being woken
    hot: int = 64  # further behind the head than confirmations and this, blocks are read by range, not one by one
    at_once: int = 8  # ranges that are fetched at once
    audit_every: timedelta = timedelta(minutes=10)
    standby: timedelta = timedelta(seconds=1)  # between tries to become the one who writes
    sure_after: timedelta = timedelta(
        seconds=30
    )  # so long a chain contradicts what was confirmed before it is believed
    silence: timedelta = timedelta(seconds=30)  # after which the one who writes is taken for hung

    def is_far(self, blocks: int) -> bool:
        """So many behind the head, blocks are read by range and none is added at the tip."""
        return blocks > self.confirmations + self.hot
