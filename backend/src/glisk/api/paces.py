"""How often may a key ask? So many times a minute, and as many at once after a rest; each process of the server counts by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from glisk.errors import TooOften
from glisk.repositories.key_repository import Key

USUAL = 6000  # requests a minute, for keys that say nothing else: enough to poll a hundred jobs every second
MOST_KEPT = 10_000


@dataclass(slots=True)
class Bucket:
    left: float
    at: float


@dataclass(slots=True)
class Paces:
    now: Callable[[], float] = time.monotonic
    buckets: dict[int, Bucket] = field(default_factory=dict)

    def take(self, key: Key | None) -> None:
        """Raises TooOften, with the seconds to wait."""
        if key is None:
            return
        rate, now = key.rate or USUAL, self.now()
        bucket = self.bucket(key.key_id, rate, now)
        bucket.left, bucket.at = min(rate, bucket.left + (now - bucket.at) * rate / 60), now
        if bucket.left < 1:
            raise TooOften(rate, (1 - bucket.left) * 60 / rate)
        bucket.left -= 1

    def bucket(self, key_id: int, rate: int, now: float) -> Bucket:
        if key_id not in self.buckets:
            if len(self.buckets) >= MOST_KEPT:  # whoever is forgotten begins with a full one
                del self.buckets[next(iter(self.buckets))]
            self.buckets[key_id] = Bucket(rate, now)
        return self.buckets[key_id]
