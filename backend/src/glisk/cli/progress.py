"""How far a long command is: a bar on a terminal, elsewhere a line now and then. On standard error, so that results stay clean."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

LINE_EVERY_S = 5.0


class Progress(ABC):
    """Called with blocks that were read, of how many, and tokens found in them. `done` is what it was told last."""

    def __init__(self, what: str, now: Callable[[], float] = time.monotonic) -> None:
        self.what, self.now, self.started = what, now, now()
        self.done = 0

    def __call__(self, done: int, total: int, tokens: int) -> None:
        self.done = done
        self.show(done, total, sentence(done, total, tokens, self.now() - self.started))

    @abstractmethod
    def show(self, done: int, total: int, told: str) -> None: ...

    def close(self) -> None:  # noqa: B027 (a line needs no closing)
        pass


class Lines(Progress):
    said_at = -LINE_EVERY_S

    def show(self, done: int, total: int, told: str) -> None:
        passed = self.now() - self.started
        if done >= total or passed - self.said_at >= LINE_EVERY_S:
            self.said_at = passed
            print(f"{self.what}: {told}", file=sys.stderr, flush=True)


class Bar(Progress):
    bar: Any = None

    def show(self, done: int, total: int, told: str) -> None:
        if self.bar is None:
            self.bar = drawn(self.what)
        self.bar.update(self.bar.task_ids[0], completed=done, total=total, told=told)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def shown(what: str) -> Iterator[Progress]:
    progress: Progress = Bar(what) if sys.stderr.isatty() else Lines(what)
    try:
        yield progress
    finally:
        with suppress(BrokenPipeError):
            progress.close()


def drawn(what: str) -> Any:
    from rich.console import Console  # only who sees a bar waits for it to load
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Drawing

    columns = TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[told]}", markup=False)
    drawing = Drawing(*columns, console=Console(stderr=True))
    drawing.add_task(what, told="")
    drawing.start()
    return drawing


def sentence(done: int, total: int, tokens: int, seconds: float) -> str:
    rate = done / seconds if seconds > 0 else 0.0
    left = f", {timedelta(seconds=round((total - done) / rate))} left" if rate and done < total else ""
    return f"{done:,} of {total:,} blocks, {rate:,.0f} blocks/s, {tokens:,} tokens{left}"
