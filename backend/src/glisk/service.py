"""Puts the parts together: settings in, a running Glisk out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from glisk.dev import postgres
from glisk.settings import Settings


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """The operator's PostgreSQL, else the embedded one."""
    if url := settings.database_url.get_secret_value():
        yield url
    else:
        with postgres.running(settings.data_dir / "postgres") as url:
            yield url
