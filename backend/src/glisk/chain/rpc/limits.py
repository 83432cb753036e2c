"""How patient the pool is, and how far it trusts an endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    total: timedelta = timedelta(seconds=30)  # a question has an answer by then, or none
    request: timedelta = timedelta(seconds=10)
    probe: timedelta = timedelta(seconds=3)
    look_every: timedelta = timedelta(seconds=30)  # at the endpoints that are not in use
    return_after: timedelta = timedelta(
        minutes=1
    )  # a better endpoint has been well for so long before it is used again
    rest: timedelta = timedelta(milliseconds=250)  # of an endpoint after its first fault; doubles
    longest_rest: timedelta = timedelta(seconds=15)
    cooldown: timedelta = timedelta(seconds=1)  # of one that asks to be left alone and does not say how long; doubles
    longest_cooldown: timedelta = timedelta(minutes=1)  # whatever it says
    rate: float = 500.0  # calls a second
    slowest_rate: float = 2.0
    at_once: int = 16  # requests
    batch: int = 100  # calls in a request
    lag: int = 25  # blocks behind the best endpoint
    stall: timedelta = timedelta(minutes=1)  # without a new block, while others have some
    body: int = 200 * 1024 * 1024  # bytes
