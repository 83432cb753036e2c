"""Files and locks of the data directory. The kernel drops a lock when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from glisk.errors import DataOfAnotherUser


def make_writable(directory: Path, mode: int = 0o777) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=mode)
    except PermissionError as error:
        raise DataOfAnotherUser(f"{directory} cannot be made: {error.strerror}.") from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise DataOfAnotherUser(f"{directory} belongs to another user.")


def open_private(path: Path) -> IO[bytes]:
    """For appending; readable by nobody else."""
    return open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600))


def try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
