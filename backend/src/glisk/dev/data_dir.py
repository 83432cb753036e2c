"""The data directory: one running Glisk at a time, and never wiped by accident once real services have been paid for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glisk.dev import postgres
from glisk.dev.locks import make_directory, open_private, try_lock
from glisk.errors import AlreadyRunning, DataUnwritable, WouldDestroyPaidWork
from glisk.settings import Settings


@contextmanager
def owned(data_dir: Path) -> Iterator[None]:
    """For the one process that runs Glisk here. The kernel lets go of the lock when that process ends, however it ends."""
    make_directory(data_dir)
    with open_private(data_dir / "running.lock") as lock:
        if not try_lock(lock):
            raise AlreadyRunning(f"It is {data_dir}.")
        yield


def remember_real_parts(settings: Settings) -> None:
    """Written down, so that a later change of the settings does not make what was paid for look like play."""
    marks = marks_of(settings)
    if real := {**marks, **settings.real_parts()}:
        (settings.data_dir / "real-parts").write_text("".join(f"{part}={name}\n" for part, name in real.items()))


def marks_of(settings: Settings) -> dict[str, str]:
    file = settings.data_dir / "real-parts"
    lines = file.read_text().splitlines() if file.exists() else []
    return dict(line.split("=", 1) for line in lines if "=" in line)


def wipe(settings: Settings, *, force: bool) -> bool:
    """Whether there was anything to wipe."""
    real = {**marks_of(settings), **settings.real_parts()}
    if real and not force:
        raise WouldDestroyPaidWork("Real: " + ", ".join(f"{part} ({name})" for part, name in real.items()) + ".")
    if not settings.data_dir.exists():
        return False
    with owned(settings.data_dir):
        if postgres.is_used(settings.data_dir / "postgres"):
            raise AlreadyRunning(f"A command still uses the database in {settings.data_dir}.")
        try:
            shutil.rmtree(settings.data_dir)
        except PermissionError as error:
            raise DataUnwritable(f"{error.filename} cannot be removed.") from error
    return True
