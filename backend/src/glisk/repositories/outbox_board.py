"""Up to which event somebody outside has been told, and how often the next one was tried in vain."""

from __future__ import annotations

from datetime import timedelta

import msgspec
from msgspec import Struct

from glisk.repositories.board import Board
from glisk.repositories.event_log import News, Position

# Who is told for the first time hears of what comes from now on.
OPEN = """
    INSERT INTO outbox (name, xact, event_id) SELECT $1, pg_snapshot_xmin(pg_current_snapshot()), 0
    WHERE NOT EXISTS (SELECT FROM outbox WHERE name = $1) ON CONFLICT DO NOTHING"""
READ = """
    SELECT xact::text, event_id, tries, next_at <= now() AS is_due, xact > pg_snapshot_xmin(pg_current_snapshot()) AS is_beyond
    FROM outbox WHERE name = $1"""
# Only from where one believes to be: another may have gone on meanwhile.
MOVE = """
    UPDATE outbox SET xact = $4::text::xid8, event_id = $5, tries = 0, error = NULL, next_at = now()
    WHERE name = $1 AND xact = $2::text::xid8 AND event_id = $3 RETURNING name"""
FAIL = """
    UPDATE outbox SET tries = tries + 1, error = left($4, 1000), next_at = now() + $5
    WHERE name = $1 AND xact = $2::text::xid8 AND event_id = $3 RETURNING name"""
TELL = "INSERT INTO events (to_status, actor, data) VALUES ($1, $2, $3::jsonb)"
RESTART = """
    UPDATE outbox SET xact = pg_snapshot_xmin(pg_current_snapshot()), event_id = 0, tries = 0, error = NULL, next_at = now()
    WHERE name = $1"""
LINKS = "SELECT image_cid, metadata_cid, token_uri FROM tokens_s0 WHERE id = $1"
ALONE = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_ours"
FREE = "SELECT pg_advisory_unlock(hashtextextended($1, 0))"


class Standing(Struct, frozen=True):
    """`is_beyond`: behind events that are yet to come, so of another database: this one was made anew, or from a backup."""

    position: Position
    tries: int
    is_due: bool
    is_beyond: bool


class Links(Struct, frozen=True):
    """Where what a token shows is."""

    image_cid: str | None = None
    metadata_cid: str | None = None
    token_uri: str | None = None


class OutboxBoard(Board):
    async def standing(self, name: str) -> Standing:
        await self.link.fetch(OPEN, name)
        (row,) = await self.link.fetch(READ, name)
        return Standing(Position(int(row["xact"]), row["event_id"]), row["tries"], row["is_due"], row["is_beyond"])

    async def move(self, name: str, was: Position, to: Position) -> bool:
        """Whether it was there."""
        return bool(await self.link.fetch(MOVE, name, *parts_of(was), *parts_of(to)))

    async def fail(self, name: str, was: Position, error: str, rest: timedelta) -> None:
        await self.link.fetch(FAIL, name, *parts_of(was), error, rest)

    async def give_up(self, name: str, was: Position, news: News, error: str, tries: int) -> None:
        """It is not lost without a trace: the audit log says what nobody was told."""
        told = {"outbox": name, "event": news.key, "item_id": news.item_id, "tries": tries, "error": error}
        async with self.link.transaction() as fetch:
            if await fetch(MOVE, name, *parts_of(was), *parts_of(news.position)):
                await fetch(TELL, "webhook given up", "telling", msgspec.json.encode(told).decode())

    async def restart(self, name: str) -> None:
        async with self.link.transaction() as fetch:
            await fetch(RESTART, name)
            await fetch(TELL, "webhook restarted", "telling", msgspec.json.encode({"outbox": name}).decode())

    async def links(self, item_id: int) -> Links:
        rows = await self.listed(LINKS, item_id)
        return Links(**rows[0]) if rows else Links()

    async def take_turn(self, name: str) -> bool:
        """Whether nobody else is at it. The database frees it when our connection ends."""
        (row,) = await self.link.fetch(ALONE, f"glisk {name}")
        return bool(row["is_ours"])

    async def end_turn(self, name: str) -> None:
        await self.link.fetch(FREE, f"glisk {name}")


def parts_of(position: Position) -> tuple[str, int]:
    return str(position.xact), position.event_id
