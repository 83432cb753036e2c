"""A user's files: added all or none under names that are free, listed, delivered once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from glisk.engine.store import Fetch
from glisk.repositories import filenames, users
from glisk.repositories.own import Own

# Two who upload for one user at once would find the same names free.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('files of ' || $1, 0))"
TAKEN = "SELECT name FROM files WHERE user_id = $1 AND EXISTS (SELECT FROM unnest($2::text[]) AS stem WHERE starts_with(name, stem))"
ADD = """
    INSERT INTO files (user_id, name, object_key, mime, size)
    SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[])"""
JUST_NOW = timedelta(seconds=30)
# The oldest first; all, or the one of that name.
LISTED = """
    SELECT file_id, user_id, name, object_key, mime, size, created_at FROM files
    WHERE user_id = $1 AND ($2::text IS NULL OR name = $2) AND ($3 OR delivered_at IS NULL) ORDER BY file_id"""
DELIVER = "UPDATE files SET delivered_at = now() WHERE file_id = ANY ($1::bigint[]) AND delivered_at IS NULL"
UNDO = "UPDATE files SET delivered_at = NULL WHERE file_id = ANY ($1::bigint[]) AND delivered_at > now() - $2::interval"
DELETE = "DELETE FROM files WHERE file_id = ANY ($1::bigint[])"


class NewFile(Struct, frozen=True):
    """Its bytes are stored already."""

    name: str
    object_key: str
    mime: str
    size: int


class File(Struct, frozen=True):
    file_id: int
    user_id: str
    name: str
    object_key: str
    mime: str
    size: int
    created_at: datetime

    @property
    def key(self) -> str:
        """As seed 004 has it."""
        return f"{self.user_id}/{self.name}"


class FileRepository:
    def __init__(self, own: Own) -> None:
        self.own = own

    async def add(self, user_id: str, files: Sequence[NewFile]) -> list[NewFile]:
        """Under the names that they got: one that is taken gets a number."""
        async with self.own.link.transaction() as fetch:
            await users.know(fetch, user_id)
            await fetch(ONE_AT_A_TIME, user_id)
            named = await free_names(fetch, user_id, files)
            await fetch(ADD, user_id, *columns_of(named))
        return named

    async def listed(self, user_id: str | None, of: str, *, again: bool) -> list[File]:
        """`again`: also those that were delivered, as long as they are there."""
        return [File(*row) for row in await self.own.fetch(user_id, LISTED, of, None, again)]

    async def one(self, user_id: str | None, of: str, name: str, *, again: bool) -> File | None:
        rows = await self.own.fetch(user_id, LISTED, of, name, again)
        return File(*rows[0]) if rows else None

    async def deliver(self, files: Sequence[File], *, is_kept: bool) -> None:
        """They were sent whole. `is_kept`: for a while, should somebody want them again."""
        await self.own.link.fetch(DELIVER if is_kept else DELETE, [file.file_id for file in files])

    async def undo(self, files: Sequence[File]) -> None:
        """They only seemed to have been received."""
        await self.own.link.fetch(UNDO, [file.file_id for file in files], JUST_NOW)


async def free_names(fetch: Fetch, user_id: str, files: Sequence[NewFile]) -> list[NewFile]:
    stems = [filenames.split(file.name)[0][: filenames.LONGEST // 2] for file in files]
    taken = {row["name"] for row in await fetch(TAKEN, user_id, stems)}
    named = []
    for file in files:
        name = filenames.free(file.name, taken)
        taken.add(name)
        named.append(NewFile(name, file.object_key, file.mime, file.size))
    return named


def columns_of(files: Sequence[NewFile]) -> list[list[Any]]:
    return [[getattr(file, name) for file in files] for name in NewFile.__struct_fields__]
