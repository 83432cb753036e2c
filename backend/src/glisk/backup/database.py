"""The database of a backup: taken as it stands at one moment, and put back whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit, urlunsplit

from glisk.db.server import connected, known_revisions, revision_of
from glisk.dev import postgres
from glisk.errors import BackupUnusable, DatabaseUnreachable, NotEmpty, SchemaBehind
from glisk.values import without_passwords

PREAMBLE, ONLY_NEW = 50, b"SET transaction_timeout"
CHUNK = 1 << 20
TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
AHEAD = "SELECT COALESCE(max(xact) >= pg_current_xact_id(), false) FROM (SELECT xact FROM events ORDER BY xact DESC LIMIT 1) e"
# Another server counts its transactions from another number. Those of the past must lie below, or readers would wait until it
# has come that far. Whoever is told of events is told again of those after the first they have not heard of.
RETELL = """
    UPDATE outbox o SET xact = '3', event_id = COALESCE(
      (SELECT min(event_id) - 1 FROM events e WHERE (e.xact, e.event_id) > (o.xact, o.event_id)), (SELECT max(event_id) FROM events), 0)"""
RENUMBER = "UPDATE events SET xact = '3'"


async def known(url: str) -> tuple[str, str]:
    """The revision of its schema, and the version of its server."""
    async with connected(url) as connection:
        revision = await revision_of(connection)
        version: str = await connection.fetchval("SELECT current_setting('server_version')")
    if revision is None:
        raise SchemaBehind("There is nothing in it yet.")
    return revision, version


def save(url: str, file: Path) -> None:
    """As one snapshot, whoever writes meanwhile."""
    place, secret = without_password(url)
    terms = ("--format=custom", "--no-owner", "--no-privileges", "--file", file, place)
    command: list[str | Path] = [postgres.binaries() / "pg_dump", *terms]
    done = subprocess.run(command, env=environment(secret), capture_output=True, text=True, check=False)
    if done.returncode:
        raise DatabaseUnreachable(f"pg_dump failed: {in_short(done.stderr, secret)}")


def restore(url: str, file: Path) -> None:
    """In one transaction: if it fails, nothing was written. As a script, so that a server older than our tools understands it."""
    place, secret = without_password(url)
    tools = postgres.binaries()
    write: list[str | Path] = [tools / "pg_restore", "--no-owner", "--no-privileges", "--file=-", file]
    read: list[str | Path] = [
        *(tools / "psql", "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", place)
    ]
    with tempfile.TemporaryFile() as said:
        with (
            subprocess.Popen(write, stdout=subprocess.PIPE, stderr=said) as source,
            subprocess.Popen(read, stdin=subprocess.PIPE, stdout=said, stderr=said, env=environment(secret)) as target,
        ):
            is_done = passed_on(source, target)
        if not is_done or target.returncode:
            said.seek(0)
            seen = in_short(said.read().decode(errors="replace"), secret)
            raise DatabaseUnreachable(f"It could not be restored: {seen}")


def passed_on(source: subprocess.Popen[bytes], target: subprocess.Popen[bytes]) -> bool:
    """Whoever reads commits when there is no more to read. So they are ended first, unless all of it was written."""
    assert source.stdout
    assert target.stdin
    try:
        copy_script(source.stdout, target.stdin)
        target.stdin.flush()
        is_whole = source.wait() == 0
    except BrokenPipeError:  # the reader has said why it ended
        is_whole = False
    if not is_whole:
        source.kill()
        target.kill()
    with suppress(BrokenPipeError):
        target.stdin.close()
    return is_whole


def copy_script(source: IO[bytes], target: IO[bytes]) -> None:
    """Without what only servers from 17 on know. It stands among the first lines, before any data."""
    target.writelines(line for line in islice(source, PREAMBLE) if not line.startswith(ONLY_NEW))
    shutil.copyfileobj(source, target, CHUNK)


async def require_empty(url: str) -> None:
    async with connected(url) as connection:
        if await connection.fetchval(TABLES):
            raise NotEmpty(f"It is {without_passwords(url)}.")


async def settle_in(url: str) -> None:
    """On a server that is younger than the one it comes from, and may not know our role: grants are not in a backup."""
    async with connected(url) as connection, connection.transaction():
        if await connection.fetchval("SELECT to_regproc('open_to_users')") is not None:
            await connection.execute("SELECT open_to_users()")
        if await connection.fetchval(AHEAD):
            await connection.execute(RETELL)
            await connection.execute(RENUMBER)
    async with connected(url) as connection:
        await connection.execute("ANALYZE")


def require_known(revision: str) -> None:
    if revision not in (ours := known_revisions()):
        raise BackupUnusable(f"Its schema is {revision}; this Glisk knows up to {ours[-1]}.")


def environment(password: str) -> dict[str, str]:
    """The password goes by it: arguments can be seen by everybody on the machine."""
    return {**os.environ, **({"PGPASSWORD": password} if password else {})}


def in_short(said: str, password: str) -> str:
    found = re.sub(r"\s+", " ", said).strip()[:500]
    return found.replace(password, "***") if password else found


def without_password(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    netloc = f"{name}@{host}" if name else host
    return urlunsplit(parts._replace(netloc=netloc)), unquote(password)
