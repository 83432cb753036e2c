"""How is a process asked to end? The first signal lets it finish; what a further one does is the caller's choice."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

INTERRUPTED = 130
ECHO_S = 0.3  # what comes this soon is the same signal again: timeout(1) and some launchers send it twice


def on_signals(first: Callable[[], object], further: Callable[[], object]) -> None:
    """Plain handlers, not the event loop's: they also run while a processor blocks the loop. So they must do little."""
    heard: list[float] = []

    def hear(*_: object) -> None:
        heard.append(time.monotonic())
        if len(heard) == 1:
            first()
        elif heard[-1] - heard[0] > ECHO_S:
            further()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, hear)


def die_after(seconds: float) -> None:
    """By the kernel's hand (SIGALRM), whatever this process does then."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def ending(code: int) -> str:
    """A return code in words."""
    if code >= 0:
        return f"exit code {code}"
    return "killed by " + next((known.name for known in signal.Signals if known == -code), f"signal {-code}")
