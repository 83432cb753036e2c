"""Connections to PostgreSQL: the engine of SQLAlchemy for repositories and pages, and what a server must be to serve us."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, async_sessionmaker, create_async_engine
from sqlalchemy.pool import NullPool
from sqlmodel import text
from sqlmodel.ext.asyncio.session import AsyncSession

from glisk.errors import DatabaseTooOld, DatabaseUnreachable
from glisk.settings import without_passwords

OLDEST_SERVER = 140000


@asynccontextmanager
async def engine_of(url: str, **options: Any) -> AsyncIterator[AsyncEngine]:
    """asyncpg reads the URL itself, so that one URL means the same (sslmode, several hosts, …) wherever it is used."""

    async def connect() -> asyncpg.Connection[asyncpg.Record]:
        try:
            return await asyncpg.connect(url, server_settings={"application_name": "glisk"})
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
            raise DatabaseUnreachable(f"{without_passwords(url)}: {error}") from error

    engine = create_async_engine("postgresql+asyncpg://", async_creator=connect, **options)
    try:
        yield engine
    finally:
        await engine.dispose()


@asynccontextmanager
async def connection_to(url: str) -> AsyncIterator[AsyncConnection]:
    """One connection to a server that is new enough, closed at the end."""
    async with engine_of(url, poolclass=NullPool) as engine, engine.connect() as connection:
        await require_supported(connection)
        yield connection


async def check(url: str) -> None:
    """That the server is there and can serve us."""
    async with connection_to(url):
        pass


async def require_supported(connection: AsyncConnection) -> None:
    version = int((await connection.execute(text("SHOW server_version_num"))).scalar_one())
    await connection.rollback()
    if version < OLDEST_SERVER:
        raise DatabaseTooOld(f"The server is version {version // 10000}.")


def sessions(engine: AsyncEngine) -> async_sessionmaker[AsyncSession]:
    return async_sessionmaker(engine, class_=AsyncSession, expire_on_commit=False)


def fetching(session: AsyncSession) -> Callable[..., Awaitable[Sequence[Any]]]:
    """Runs a statement with $n parameters inside the session's transaction, as asyncpg's own `fetch` would."""

    async def fetch(sql: str, /, *arguments: Any) -> Sequence[Any]:
        connection = await session.connection()
        return (await connection.exec_driver_sql(sql, arguments)).mappings().all()

    return fetch
