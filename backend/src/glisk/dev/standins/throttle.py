"""A rate limit as providers keep it, and a record of how fast the calls came that it let in."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from glisk.dev.standins.timeline import A_SECOND

A_HAIR = 1e-9  # sums of fractions fall short of one


class Throttle:
    """A bucket of `burst` that refills at `rate` a second; without a rate it lets everything in."""

    def __init__(self, usual: int) -> None:
        self.usual = usual  # what the provider says is left when nobody is limited
        self.clear()

    def clear(self) -> None:
        self.rate: float | None = None
        self.burst, self.left, self.seen_at = 1, 1.0, 0
        self.taken: list[int] = []
        self.refused = 0

    def limit(self, rate: float | None, burst: int) -> None:
        self.rate, self.burst, self.left = rate, burst, float(burst)

    def wait(self, now: int) -> int:
        """Whole seconds to wait; none when it was let in, and then it is counted."""
        if self.rate is not None:
            self.left = min(self.burst, self.left + max(0, now - self.seen_at) / A_SECOND * self.rate)
            self.seen_at = now
            if self.left < 1 - A_HAIR:
                self.refused += 1
                return math.ceil((1 - self.left) / self.rate)
            self.left -= 1
        self.taken.append(now)
        return 0

    @property
    def remaining(self) -> int:
        return self.usual if self.rate is None else int(self.left)

    def shown(self) -> dict[str, Any]:
        seconds = Counter(str(moment // A_SECOND) for moment in self.taken)
        return {
            "accepted": len(self.taken),
            "refused": self.refused,
            "most_in_a_second": busiest_second(sorted(self.taken)),
            "per_second": dict(seconds),
        }


def busiest_second(moments: list[int]) -> int:
    """Wherever that second begins: two bursts around a full second are one."""
    most = first = 0
    for last, moment in enumerate(moments):
        while moment - moments[first] >= A_SECOND:
            first += 1
        most = max(most, last - first + 1)
    return most
