"""Files and locks of the data directory. The kernel drops a lock when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from glisk.errors import DataUnwritable


def make_directory(path: Path, mode: int = 0o777) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=mode)
    except FileExistsError as error:
        raise DataUnwritable(f"{path} is no directory but a file.") from error
    except OSError as error:
        raise DataUnwritable(f"{path} cannot be made: {error.strerror}.") from error


def open_private(path: Path) -> IO[bytes]:
    """For appending; readable by nobody else."""
    try:
        return open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600))
    except OSError as error:
        raise DataUnwritable(f"{path} cannot be opened: {error.strerror}.") from error


def try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
