"""Brings the schema up or down, one process at a time, and writes every execution and every exception into `_migrations`."""

from __future__ import annotations

import asyncio
import hashlib
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import structlog
from alembic import command, context
from alembic.config import Config
from alembic.operations import MigrationScript
from alembic.runtime.migration import MigrationContext, MigrationInfo
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, insert, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import SQLModel, col, select

from glisk.db.models import MigrationRun
from glisk.db.server import SCRIPTS, require_known
from glisk.db.session import connection_to
from glisk.errors import MigrationFailed, UnknownRevision

log = structlog.get_logger()

LOCK = int.from_bytes(b"glisk")


@dataclass(frozen=True, slots=True)
class Step:
    """One revision in one direction."""

    file: Path
    direction: Literal["up", "down"]

    def row(self, started_at: datetime, exception: str | None = None) -> dict[str, Any]:
        return {
            "name": self.file.stem,
            "direction": self.direction,
            "checksum": hashlib.sha256(self.file.read_bytes()).hexdigest(),
            "started_at": started_at,
            "ok": exception is None,
            "exception": exception,
        }


def upgrade(url: str, target: str = "head", scripts: Path = SCRIPTS) -> None:
    command.upgrade(config(url, scripts), target)


def downgrade(url: str, target: str = "-1", scripts: Path = SCRIPTS) -> None:
    try:
        command.downgrade(config(url, scripts), target)
    except CommandError as error:
        raise UnknownRevision(f"{target}: {error}.") from error


def config(url: str = "", scripts: Path = SCRIPTS) -> Config:
    found = Config(attributes={"url": url})
    found.set_main_option("script_location", str(scripts).replace("%", "%%"))
    found.set_main_option("path_separator", "os")
    return found


def run_environment(url: str) -> None:
    """What alembic/env.py does, whatever the command was. Needs a thread without a running loop."""
    if context.is_offline_mode():
        raise MigrationFailed("Migrations read the database as they go: --sql cannot be had.")
    scripts = Path(context.config.get_main_option("script_location", ""))
    asyncio.run(run_locked(url, Run(scripts / "versions")))


async def run_locked(url: str, run: Run) -> None:
    # The lock belongs to a transaction of a second connection, not to a session, so that it also holds behind a pooler.
    async with connection_to(url) as guard, connection_to(url) as connection:
        await guard.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        try:
            await connection.run_sync(run.migrate)
        except Exception as error:
            await connection.rollback()
            if (step := run.failed_step(error)) is None:
                if isinstance(error, DBAPIError):
                    raise MigrationFailed(f"Before its first step: {error.orig}") from error
                raise
            exception = "".join([first_line(error), "\n\n", *traceback.format_exception(error)])
            await connection.run_sync(record, step.row(run.started_at, exception))
            await connection.commit()
            raise MigrationFailed(f"{step.file.stem} ({step.direction}): {first_line(error)}") from error


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


class Run:
    """One call of alembic: what it has applied, and since when the next step has been under way."""

    def __init__(self, versions: Path) -> None:
        self.versions = versions
        self.started_at = datetime.now(UTC)
        self.applied: Step | None = None

    def migrate(self, connection: Connection) -> None:
        context.configure(
            connection=connection,
            target_metadata=SQLModel.metadata,
            transaction_per_migration=True,
            compare_server_default=True,
            on_version_apply=self.note,
            process_revision_directives=numbered,
        )
        revisions = sorted(script.revision for script in context.script.walk_revisions())
        require_known(context.get_context().get_current_revision(), revisions)
        with context.begin_transaction():
            context.run_migrations()
        open_to_users(connection)

    def note(self, ctx: MigrationContext, step: MigrationInfo, heads: object, run_args: object) -> None:
        """Runs inside the step's own transaction: a step and its row come together or not at all."""
        assert ctx.connection is not None
        if step.is_stamp:
            return  # nothing was executed
        (file,) = self.versions.glob(f"{step.up_revision_id}_*.py")
        self.applied = Step(file, "up" if step.is_upgrade else "down")
        record(ctx.connection, self.applied.row(self.started_at))
        log.info("migrated", revision=file.stem, direction=self.applied.direction)
        self.started_at = datetime.now(UTC)

    def failed_step(self, error: Exception) -> Step | None:
        """The one whose file is in the traceback, else the one that was applied but could not be committed."""
        places = [(Path(frame.filename), frame.name) for frame in traceback.extract_tb(error.__traceback__)]
        if isinstance(error, SyntaxError):
            places.append((Path(error.filename or ""), ""))
        for file, function in places:
            if file.parent == self.versions:
                return Step(file, "down" if function == "downgrade" else "up")
        return self.applied


def open_to_users(connection: Connection) -> None:
    """Whoever has read a dump back has it without its grants, and migrates next."""
    if connection.execute(text("SELECT to_regproc('open_to_users')")).scalar_one() is not None:
        connection.execute(text("SELECT open_to_users()"))
    connection.commit()


def numbered(_: object, __: object, directives: list[MigrationScript]) -> None:
    """`alembic revision` takes the next number, where it would make one up."""
    head = context.script.get_current_head()
    for directive in directives:
        directive.rev_id = f"{int(head or -1) + 1:03}"


def record(connection: Connection, row: dict[str, Any]) -> None:
    """Not where the ledger itself is missing: before 000 goes up and after it goes down."""
    if connection.execute(text("SELECT to_regclass('_migrations')")).scalar_one() is not None:
        connection.execute(insert(MigrationRun).values(row))


@dataclass(frozen=True, slots=True)
class Status:
    """Where the schema is, where it should be, and how it came there."""

    current: str | None
    head: str | None
    runs: list[MigrationRun]


async def status(url: str) -> Status:
    async with connection_to(url) as connection:
        return await connection.run_sync(status_of)


def status_of(connection: Connection) -> Status:
    current = MigrationContext.configure(connection).get_current_revision()
    head = ScriptDirectory.from_config(config()).get_current_head()
    if connection.execute(text("SELECT to_regclass('_migrations')")).scalar_one() is None:
        return Status(current, head, [])
    rows = connection.execute(select(MigrationRun).order_by(col(MigrationRun.run_id))).mappings()
    return Status(current, head, [MigrationRun(**row) for row in rows])
