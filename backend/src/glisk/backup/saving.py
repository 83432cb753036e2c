"""Writes a backup, also while Glisk is at work: first the database as it is now, then what it speaks of, which only grows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from glisk import __version__
from glisk.backup import archive, database
from glisk.backup.archive import FORMAT, HEAD, ROOMS, Archive, Head, Told
from glisk.dev import sharing
from glisk.errors import ObjectDamaged
from glisk.settings import Settings
from glisk.storage.objects import Objects
from glisk.values import text

DUMP = "database.dump"
FILES = ("keys/provenance.key", "real-parts")  # of the data directory
CHAIN = ("chain/state.json", "chain/contract.json")
SAVED_WITHIN_S = 60.0


async def save(settings: Settings, url: str, file: Path, told: Told) -> list[str]:
    """The keys of objects that were left out, because what lies there is damaged."""
    schema, server = await database.known(url)
    has_chain = not text(settings.rpc_urls) and (settings.data_dir / CHAIN[0]).exists()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with archive.writing(file, told) as into:
        into.add(HEAD, msgspec.json.encode(Head(FORMAT, __version__, schema, server, now, has_chain)))
        await add_database(url, file, into)
        if has_chain:
            await asyncio.to_thread(wait_until_saved, settings.data_dir / "chain", time.time())
        for name in (*FILES, *(CHAIN if has_chain else ())):
            if (settings.data_dir / name).exists():
                into.add_file(name, settings.data_dir / name)
        return [key for room in ROOMS async for key in add_objects(settings, room, into)]


async def add_database(url: str, file: Path, into: Archive) -> None:
    """By way of a file of its own, beside the one that it goes into: its size stands before it there."""
    draft = file.with_name(f".{file.name}.database")
    try:
        draft.touch(0o600)
        await asyncio.to_thread(database.save, url, draft)
        into.add_file(DUMP, draft)
    finally:
        draft.unlink(missing_ok=True)


def wait_until_saved(home: Path, moment: float) -> None:
    """A chain that runs is saved every now and then. It must not be older than what the database knows of it; the other way
    round the listener reads on from where it was."""
    deadline = time.monotonic() + SAVED_WITHIN_S
    state = home / "state.json"
    while sharing.is_used(home) and state.stat().st_mtime <= moment and time.monotonic() < deadline:
        time.sleep(0.1)


async def add_objects(settings: Settings, room: str, into: Archive) -> AsyncIterator[str]:
    """Yields what cannot be added."""
    if not settings.s3_bucket and not (settings.data_dir / room).exists():
        return
    objects = Objects.of(settings, room="" if room == ROOMS[0] else room)
    async for key in objects.listed():
        try:
            data = await objects.get(key)
        except ObjectDamaged:
            yield key
            continue
        if data is not None:
            into.add_object(room, key, data)
