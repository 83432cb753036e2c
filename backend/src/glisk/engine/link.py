"""A connection that is opened when it is needed and again after it was lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg
import structlog

log = structlog.get_logger()
T = TypeVar("T")

# What will pass: the connection is gone, the server stops, two transactions were in each other's way, the disk is full.
LOST = (
    *(OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError),
    *(asyncpg.TransactionRollbackError, asyncpg.LockNotAvailableError, asyncpg.InsufficientResourcesError),
)

# For the engine's own statements: one plan each, along the index it was written for, whatever the statistics say; no
# planning every time. And a worker that is stopped inside a transaction must not keep its locks for ever.
STEADY = {
    "plan_cache_mode": "force_generic_plan",
    **dict.fromkeys(("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit"), "off"),
    "idle_in_transaction_session_timeout": "5s",
}


class LinkLost(Exception):
    """The connection broke, or the server could not go on. What was sent may or may not have been done."""


class Transaction:
    """Called, it runs a statement."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def __call__(self, sql: str, /, *arguments: Any) -> list[Any]:
        rows: list[Any] = await guarded(self.connection, self.connection.fetch(sql, *arguments))
        return rows

    async def copy(self, table: str, columns: Sequence[str], records: Iterable[Sequence[Any]]) -> None:
        """Many rows at once, at twice the speed of an INSERT; nothing comes back."""
        await guarded(self.connection, self.connection.copy_records_to_table(table, columns=columns, records=records))


class Hearing:
    """A connection that listens, for as long as it lives. A link would open another in its place, and that hears nothing."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.is_over = connection, asyncio.Event()
        connection.add_termination_listener(lambda _: self.is_over.set())

    async def until_lost(self, check_every: float) -> None:
        """The server tells when it ends; a dead peer says nothing, and only asking finds out."""
        while not self.connection.is_closed():
            try:
                async with asyncio.timeout(check_every):
                    await self.is_over.wait()
            except TimeoutError:
                await guarded(self.connection, self.connection.fetch("SELECT 1", timeout=check_every))
        raise LinkLost("the connection that listens has ended")


def as_listener(hearer: Callable[[str], None]) -> Callable[[Any, int, str, str], None]:
    return lambda _connection, _pid, _channel, text: hearer(text)


class Link:
    """One connection; one statement at a time. `pooled`: through a pooler that gives every transaction another session,
    where nothing can be prepared or set for later."""

    def __init__(
        self, url: str, *, steady: bool = False, pooled: bool = False, patience: float = 60.0, name: str = ""
    ) -> None:
        self.url = url
        self.options: dict[str, Any] = {"command_timeout": patience}  # a server that is gone says nothing, for ever
        self.options |= {"statement_cache_size": 0} if pooled else {"server_settings": STEADY if steady else {}}
        if name:  # as the server's list of connections shows it
            self.options["server_settings"] = {**self.options.get("server_settings", {}), "application_name": name}
        self.lock = asyncio.Lock()
        self.callers = 0  # at it or in line for it
        self.connection: Any = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        self.callers += 1
        try:
            async with self.lock:
                yield
        finally:
            self.callers -= 1

    async def fetch(self, sql: str, /, *arguments: Any) -> list[Any]:
        async with self.turn():
            return await guarded(connection := await self.opened(), connection.fetch(sql, *arguments))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Yields a `fetch` whose statements commit together."""
        async with self.turn():
            connection = await self.opened()
            await guarded(connection, connection.execute("BEGIN"))
            try:
                yield Transaction(connection)
            except BaseException:
                await undo(connection)
                raise
            await guarded(connection, connection.execute("COMMIT"))

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Transaction]:
        """Yields a `fetch` whose statements are each by themselves, one after the other on this connection."""
        async with self.turn():
            yield Transaction(await self.opened())

    async def listen(self, hearers: Mapping[str, Callable[[str], None]]) -> Hearing:
        """Each channel to its hearer, all on this one connection."""
        async with self.lock:
            connection = await self.opened()
            for channel, hearer in hearers.items():
                await guarded(connection, connection.add_listener(channel, as_listener(hearer)))
            return Hearing(connection)

    async def opened(self) -> Any:
        if self.connection is None or self.connection.is_closed():
            try:
                self.connection = await asyncpg.connect(self.url, timeout=10, **self.options)
            except (*LOST, asyncpg.InterfaceError, asyncpg.PostgresError) as error:
                raise LinkLost(str(error)) from error
        return self.connection

    async def close(self) -> None:
        if self.connection is not None and not self.connection.is_closed():
            self.connection.terminate()


def shortest(links: Sequence[Link]) -> Link:
    """The one with the shortest line."""
    return min(links, key=lambda link: link.callers)


async def undo(connection: Any) -> None:
    """Whatever state it is in. One that is stuck in the middle of something, such as a COPY that was broken off, is given up: the
    server rolls back what it had begun."""
    if connection.is_closed():
        return
    try:
        await guarded(connection, connection.execute("ROLLBACK"))
    except asyncpg.InterfaceError:
        connection.terminate()


async def guarded(connection: Any, action: Awaitable[T]) -> T:
    """One name for the many ways in which a connection breaks; a mistake of ours is not one of them."""
    try:
        return await action
    except (*LOST, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        if isinstance(error, LOST) or connection.is_closed():
            connection.terminate()
            raise LinkLost(str(error) or type(error).__name__) from error
        raise


async def persistently(action: Callable[[], Awaitable[T]], what: str) -> T:
    """Again and again while the database is away. Only for what may be done twice."""
    rest = 0.05
    while True:
        try:
            return await action()
        except LinkLost as error:
            log.warning("database lost, trying again", what=what, error=str(error), seconds=rest)
            await asyncio.sleep(rest)
            rest = min(2 * rest, 5.0)
