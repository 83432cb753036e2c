"""The door to the database: one connection for one use, and a sentence for a server that cannot serve us."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text

from glisk import service
from glisk.db.server import check
from glisk.db.session import connection_to
from glisk.errors import DatabaseTooOld, DatabaseUnreachable

# All that a server says to let somebody in: no password, its version, the end of the greeting.
GREETING = b"R\0\0\0\x08\0\0\0\0" + b"S\0\0\0\x18server_version\x0013.9\0" + b"Z\0\0\0\x05I"


@pytest.fixture
async def old_url() -> AsyncIterator[str]:
    """A PostgreSQL 13, as far as its greeting; the newest that we are too new for."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = int.from_bytes(await reader.readexactly(4))
        await reader.readexactly(length - 4)
        writer.write(GREETING)
        await reader.read(1)  # their farewell
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        yield f"postgresql://anna@127.0.0.1:{server.sockets[0].getsockname()[1]}/glisk?sslmode=disable"


async def test_whoever_wants_one_connection_opens_one(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, connect = [], asyncpg.connect

    async def counted(*arguments: Any, **options: Any) -> Any:
        opened.append(connection := await connect(*arguments, **options))
        return connection

    monkeypatch.setattr(asyncpg, "connect", counted)
    async with connection_to(database_url) as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    assert [connection.is_closed() for connection in opened] == [True]


async def test_a_server_that_is_too_old_is_told_apart(old_url: str) -> None:
    with pytest.raises(DatabaseTooOld, match="The server is version 13"):
        await check(old_url)
    with pytest.raises(DatabaseTooOld):
        async with connection_to(old_url):
            pass


async def test_a_server_that_is_not_there_is_told_apart() -> None:
    with pytest.raises(DatabaseUnreachable):
        async with connection_to("postgresql://anna:secret@127.0.0.1:1/glisk"):
            pass


async def test_a_command_whose_connection_breaks_says_what_to_look_at(database_url: str) -> None:
    with pytest.raises(DatabaseUnreachable, match="may have been done: look before you repeat it"):
        await service.once(database_url, lambda link: link.fetch("SELECT pg_terminate_backend(pg_backend_pid())"))
