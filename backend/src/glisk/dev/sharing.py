"""An embedded server in a directory of ours, shared by every process that uses the directory: the users' side."""

from __future__ import annotations

import fcntl
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from glisk.dev.keeping import LOOPBACK
from glisk.dev.locks import open_private, try_lock
from glisk.errors import GliskError

START_DEADLINE_S = 120.0  # recovery after a power cut may replay much
LOG_LIMIT = 8 << 20


@contextmanager
def joined(home: Path, keeper: Sequence[str | Path], failure: type[GliskError]) -> Iterator[int]:
    """The server's port. Starts the server if nobody has; it stops when its last user, in whatever process, is gone.
    `keeper` is the module that keeps it, and what it wants to be told."""
    with open_private(home / "users.lock") as users, open_private(home / "presence.lock") as presence:
        fcntl.flock(users, fcntl.LOCK_SH)  # waits out a server that is just stopping
        fcntl.flock(presence, fcntl.LOCK_SH)
        start_keeper(home, keeper)
        try:
            yield wait_for_port(home, failure)
        finally:
            is_last = try_lock(presence)
            users.close()
            if is_last:
                wait_for_end(home)


def start_keeper(home: Path, keeper: Sequence[str | Path]) -> None:
    """Holding `keeper.lock` is being the keeper: the new process inherits the lock together with the open file."""
    module, *arguments = keeper
    with open_private(home / "keeper.lock") as lock, open_private(home / "log") as log:
        if not try_lock(lock):
            return
        (home / "server.json").unlink(missing_ok=True)
        if log.tell() > LOG_LIMIT:
            log.truncate(0)
        subprocess.run(
            [sys.executable, "-m", module, home.resolve(), *arguments],
            pass_fds=[lock.fileno()],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us; we need the server until we have finished
        )


def wait_for_port(home: Path, failure: type[GliskError]) -> int:
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline:
        if (port := published_port(home)) is not None:
            return port
        if not is_kept(home):
            raise failure(f"{last_words(home)} (the whole log: {home / 'log'})")
        time.sleep(0.01)
    late = f"It was not ready after {START_DEADLINE_S:.0f} s"
    raise failure(f"{late}: {last_words(home)} (the whole log: {home / 'log'})")


def published_port(home: Path) -> int | None:
    """Connected to, not only read: the file of a killed keeper may still be there for a moment."""
    try:
        port: int = json.loads((home / "server.json").read_text())["port"]
        socket.create_connection((LOOPBACK, port), timeout=5).close()
    except (FileNotFoundError, ConnectionError):
        return None
    return port


def is_kept(home: Path) -> bool:
    with open_private(home / "keeper.lock") as lock:
        return not try_lock(lock)


def is_used(home: Path) -> bool:
    return home.exists() and is_kept(home)


def wait_for_end(home: Path) -> None:
    deadline = time.monotonic() + START_DEADLINE_S
    while is_kept(home) and time.monotonic() < deadline:
        time.sleep(0.005)


def last_words(home: Path) -> str:
    lines = (home / "log").read_text(errors="replace").strip().splitlines()
    fatal = [line for line in lines if "FATAL" in line or "error" in line.lower()]
    return (fatal or lines or ["It ended without a word."])[-1]
