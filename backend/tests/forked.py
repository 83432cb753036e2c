"""Processes to be killed: forked from one parent that has imported everything, so that a kill costs milliseconds."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from typing import Any

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["glisk.hosting", "tests.forked", "tests.revealing", "eth_account"])


def killed_after(seconds: float, work: Callable[..., Any], *arguments: Any) -> None:
    """Runs the work in another process, which the kernel ends after so many seconds, without a chance to clean up."""
    process = FORKS.Process(target=with_alarm, args=(seconds, work, arguments))
    process.start()
    process.join()
    process.close()


def with_alarm(seconds: float, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    work(*arguments)
