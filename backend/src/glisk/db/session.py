"""SQLAlchemy's connections and sessions, for migrations, repositories and pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, async_sessionmaker, create_async_engine
from sqlalchemy.pool import NullPool
from sqlmodel.ext.asyncio.session import AsyncSession

from glisk.db.server import connect


@asynccontextmanager
async def engine_of(url: str, **options: Any) -> AsyncIterator[AsyncEngine]:
    """asyncpg reads the URL itself, so that one URL means the same (sslmode, several hosts, …) wherever it is used."""

    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: connect(url), **options)
    try:
        yield engine
    finally:
        await engine.dispose()


@asynccontextmanager
async def connection_to(url: str) -> AsyncIterator[AsyncConnection]:
    """One, closed at the end."""
    async with engine_of(url, poolclass=NullPool) as engine, engine.connect() as connection:
        yield connection


def sessions(engine: AsyncEngine) -> async_sessionmaker[AsyncSession]:
    return async_sessionmaker(engine, class_=AsyncSession, expire_on_commit=False)


def fetching(session: AsyncSession) -> Callable[..., Awaitable[Sequence[Any]]]:
    """Runs a statement with $n parameters inside the session's transaction, as asyncpg's own `fetch` would."""

    async def fetch(sql: str, /, *arguments: Any) -> Sequence[Any]:
        connection = await session.connection()
        return (await connection.exec_driver_sql(sql, arguments)).mappings().all()

    return fetch
