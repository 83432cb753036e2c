"""May an endpoint be asked now? Three things keep one out: the wrong chain, for good; faults, until a probe; haste, for a while."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from datetime import timedelta

from glisk.chain.rpc.limits import Limits
from glisk.engine.workflow import Backoff


class Condition:
    def __init__(self, limits: Limits, now: Callable[[], float], jitter: Callable[[], float] = random.random) -> None:
        self.limits, self.now, self.jitter = limits, now, jitter
        self.banned = self.why = ""
        self.resting_until = self.cooling_until = self.cooled_at = -math.inf
        self.rests = self.cooldowns = 0  # in a row
        self.seen_at: float | None = None  # when it last answered as it should; None: it has to be probed first
        self.well_since: float | None = None
        self.head, self.head_at = 0, now()
        self.is_behind = self.is_stalled = False

    @property
    def back_at(self) -> float:
        return max(self.resting_until, self.cooling_until)

    @property
    def is_up(self) -> bool:
        return not self.banned and self.back_at <= self.now()

    @property
    def is_passed_over(self) -> bool:
        """While there is a better one."""
        return self.is_behind or self.is_stalled

    @property
    def is_out(self) -> bool:
        """Not only cooling down: another one takes its place."""
        return bool(self.banned) or self.is_passed_over or (self.rests > 0 and self.seen_at is None)

    @property
    def is_fresh(self) -> bool:
        """Whether it needs no probe before it is used."""
        return self.seen_at is not None and self.now() - self.seen_at < self.limits.look_every.total_seconds()

    @property
    def is_steady(self) -> bool:
        """Well for so long that one may go back to it."""
        since, wanted = self.well_since, self.limits.return_after.total_seconds()
        return since is not None and self.now() - since >= wanted

    def worked(self) -> None:
        self.rests = self.cooldowns = 0
        self.was_seen()

    def was_seen(self) -> None:
        self.seen_at, self.why = self.now(), ""
        if self.well_since is None and not self.is_passed_over:
            self.well_since = self.now()

    def ban(self, why: str) -> None:
        self.banned = self.why = why

    def rest(self, why: str) -> None:
        """Longer each time. Many may fail at once: that is one fault."""
        self.why, self.well_since, self.seen_at = why, None, None
        if self.resting_until > self.now():
            return
        self.rests += 1
        rest = Backoff(self.limits.rest, self.limits.longest_rest).after(self.rests).total_seconds()
        self.resting_until = self.now() + rest * (0.5 + self.jitter() / 2)

    def cool(self, why: str, after: timedelta | None, sent_at: float) -> None:
        """Of what was sent together, the first answer tells how long."""
        self.why = why
        if sent_at > self.cooled_at:
            self.cooldowns += 1
            self.cooled_at = self.now()
        rest = after or Backoff(self.limits.cooldown, self.limits.longest_cooldown).after(self.cooldowns)
        seconds = min(rest, self.limits.longest_cooldown).total_seconds()
        self.cooling_until = max(self.cooling_until, self.now() + seconds)

    def showed(self, number: int, at: float, others: Iterable[Condition]) -> None:
        """The head it showed, against what the others have shown by now. One that goes back is no progress, and a best that
        has stopped long ago is none: it may have been a lie."""
        if number > self.head:
            self.head, self.head_at = number, at
        others, stall = list(others), self.limits.stall.total_seconds()
        best = max((other.head for other in others if at - other.head_at <= stall), default=0)
        self.is_behind = best - self.head > self.limits.lag
        is_alone = any(other.head > self.head and other.head_at > self.head_at for other in others)
        self.is_stalled = is_alone and at - self.head_at > stall
        self.well_since = None if self.is_passed_over else self.well_since

    def told(self) -> str:
        """Why it is not used; empty: it may be."""
        if self.banned or self.back_at > self.now() or self.seen_at is None:
            return self.why or "not asked yet"
        if self.is_behind:
            return f"its head {self.head} is behind"
        return f"its head {self.head} does not move" if self.is_stalled else ""
