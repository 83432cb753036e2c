"""What a PostgreSQL must be to serve us: reachable, new enough, and its schema the one this Glisk knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from glisk.errors import DatabaseTooOld, DatabaseUnreachable, SchemaAhead, SchemaBehind
from glisk.values import without_passwords

OLDEST = 14
SCRIPTS = Path(__file__).parents[3] / "alembic"


async def connect(url: str) -> Any:
    try:
        connection = await asyncpg.connect(url, server_settings={"application_name": "glisk"})
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise DatabaseUnreachable(f"{without_passwords(url)}: {error}") from error
    if (version := connection.get_server_version().major) < OLDEST:
        await connection.close()
        raise DatabaseTooOld(f"The server is version {version}.")
    return connection


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    connection = await connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def check(url: str) -> None:
    """That the server is there and can serve us."""
    async with connected(url):
        pass


async def require_head(url: str) -> None:
    """For every process that does not migrate: better no work than work on a schema one does not know."""
    async with connected(url) as connection:
        current = await revision_of(connection)
    ours = known_revisions()
    require_known(current, ours)
    if current != ours[-1]:
        raise SchemaBehind(f"It is {f'at {current}' if current else 'empty'}, this Glisk needs {ours[-1]}.")


def known_revisions() -> list[str]:
    return sorted(file.name.partition("_")[0] for file in (SCRIPTS / "versions").glob("[0-9]*_*.py"))


async def revision_of(connection: Any) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
    return revision


def require_known(current: str | None, ours: list[str]) -> None:
    if current is not None and current not in ours:
        raise SchemaAhead(f"It is at {current}; this Glisk knows up to {ours[-1]}.")
