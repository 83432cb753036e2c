"""The data directory: made by us or not touched, one running Glisk at a time, never wiped by accident once real services were paid."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glisk.dev import sharing
from glisk.dev.locks import make_directory, open_private, try_lock
from glisk.errors import AlreadyRunning, DataUnwritable, NotOurData, WouldDestroyPaidWork
from glisk.settings import Settings

MARK, LOCK, REAL_PARTS = "made-by-glisk", "running.lock", "real-parts"
SHARED = {"postgres": "database", "chain": "development chain"}


def prepare(data_dir: Path) -> None:
    """A directory that holds somebody else's files is refused: `make clean` would delete them with ours."""
    make_directory(data_dir)
    if not (data_dir / MARK).exists():
        if any(data_dir.iterdir()):
            raise NotOurData(f"It is {data_dir}.")
        open_private(data_dir / MARK).close()


@contextmanager
def owned(data_dir: Path) -> Iterator[None]:
    """For the one process that runs Glisk here."""
    prepare(data_dir)
    with open_private(data_dir / LOCK) as lock:
        if not try_lock(lock):
            raise AlreadyRunning(f"It is {data_dir}.")
        yield


def require_idle(data_dir: Path) -> None:
    """Looks only, and makes nothing: for whoever may yet be refused for another reason."""
    if os.path.exists(data_dir / LOCK):
        with owned(data_dir):
            pass


def remember_real_parts(settings: Settings) -> None:
    """Written down, so that a later change of the settings does not make what was paid for look like play."""
    if real := {**remembered(settings.data_dir), **settings.real_parts()}:
        lines = (f"{part}={name}\n" for part, name in real.items())
        (settings.data_dir / REAL_PARTS).write_text("".join(lines))


def remembered(data_dir: Path) -> dict[str, str]:
    file = data_dir / REAL_PARTS
    lines = file.read_text().splitlines() if file.exists() else []
    return dict(line.split("=", 1) for line in lines if "=" in line)


def wipe(settings: Settings, *, force: bool) -> bool:
    """Whether there was anything to wipe."""
    data_dir = settings.data_dir.resolve()
    if not data_dir.exists():
        return False
    with owned(data_dir):
        if not force:
            require_play(settings)
        for part, called in SHARED.items():
            if sharing.is_used(data_dir / part):
                raise AlreadyRunning(f"A command still uses the {called} in {data_dir}.")
        try:
            shutil.rmtree(data_dir)
        except PermissionError as error:
            raise DataUnwritable(f"{error.filename} cannot be removed.") from error
    return True


def require_play(settings: Settings) -> None:
    now, before = settings.real_parts(), remembered(settings.data_dir)
    if now or before:
        real = ", ".join(f"{part} ({name})" for part, name in {**before, **now}.items())
        when = "now" if now else f"in an earlier run ({settings.shown_dir / REAL_PARTS} remembers it)"
        raise WouldDestroyPaidWork(f"Real {when}: {real}.")
