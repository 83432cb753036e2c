"""One worker process: works until it is asked to stop, finishes what it can, and never outlives its supervisor for long."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

import structlog

from glisk.engine.link import Link
from glisk.engine.periodic import Periodic, keep_time
from glisk.engine.worker import Pace, Worker
from glisk.workers.signals import INTERRUPTED, die_after, on_signals

log = structlog.get_logger()

Timetable: TypeAlias = Callable[[Link], list[Periodic]]
Closing: TypeAlias = Callable[[], Awaitable[None]]

Beside: TypeAlias = Callable[[Coroutine[Any, Any, None]], Coroutine[Any, Any, None]]  # does something else meanwhile

LOOK_EVERY_S = 60.0
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # as malloc.h has them
GRACE_S = 10.0  # beyond the time to drain: for cancelled work to end, and for a database that does not answer


def run(
    worker: Worker, periodic: Timetable, close: Closing, beside: Beside | None = None, *, is_supervised: bool = False
) -> None:
    """A signal ends it. A further one ends it at once, which loses nothing since the leases expire; under a supervisor
    it changes nothing, because a service manager may signal both, and whoever is in a hurry kills."""
    structlog.contextvars.bind_contextvars(worker=worker.name)
    at_once = ignore if is_supervised else partial(os._exit, INTERRUPTED)
    spare_the_collector()
    spare_the_allocator()
    sys.setswitchinterval(0.001)  # a thread that computes must not hold up the event loop for five times that
    action = work(worker, periodic, close, at_once)
    asyncio.run(beside(action) if beside else action)


async def work(worker: Worker, periodic: Timetable, close: Closing, at_once: Callable[[], None]) -> None:
    stop = partial(asyncio.get_running_loop().call_soon_threadsafe, finish, worker)
    on_signals(partial(ask, stop, worker.pace), at_once)
    await working(worker, periodic, close)


async def working(worker: Worker, periodic: Timetable, close: Closing) -> None:
    """Until it is stopped and has finished what it can."""
    link = Link(worker.url)
    timekeeper = asyncio.create_task(keep_time(link, periodic(link), LOOK_EVERY_S))
    log.info("worker started", concurrency=worker.pace.concurrency)
    try:
        await worker.run()
    finally:
        timekeeper.cancel()
        await link.close()
        await close()
    log.info("worker stopped")


def spare_the_collector() -> None:
    """What is loaded by now stays, so it need not be walked again and again: a third of the time of a busy worker."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def spare_the_allocator() -> None:
    """Memory for a picture that was judged stays ours for the next one. Given back and asked for anew each time, the kernel
    takes longer to clear it than we to judge. Where malloc is another than glibc's, nothing changes."""
    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        for setting, value in ((MMAP_THRESHOLD, 32 << 20), (TRIM_THRESHOLD, 64 << 20), (ARENA_MAX, 2)):
            mallopt(setting, value)


def ask(stop: Callable[[], object], pace: Pace) -> None:
    die_after(pace.drain.total_seconds() + GRACE_S)
    with suppress(RuntimeError):  # the loop has ended already
        stop()


def finish(worker: Worker) -> None:
    log.info("worker finishes what it has", rows=len(worker.claims), seconds=worker.pace.drain.total_seconds())
    worker.stop()


def ignore() -> None:
    pass


def hold(lifeline: int, pace: Pace) -> None:
    """The supervisor has the other end of this pipe and never writes. Letting go of it asks us to stop; the kernel lets
    go when the supervisor dies, by whatever death. Held in a thread, from the first moment."""

    def watch() -> None:
        os.read(lifeline, 1)
        die_after(pace.drain.total_seconds() + GRACE_S)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def name_of(pid: int) -> str:
    return f"{socket.gethostname()}-{pid}"


def crew_of(supervisor: int) -> str:
    """What the names of a supervisor's workers begin with."""
    return f"{name_of(supervisor)}-"
