"""Work that comes again and again, done by one of all processes each time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

import structlog

from glisk.engine.link import Link, LinkLost, persistently
from glisk.engine.statements import statement

log = structlog.get_logger()

KNOW = "INSERT INTO periodic (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING"


@dataclass(frozen=True, slots=True)
class Periodic:
    name: str
    every: timedelta
    run: Callable[[], Awaitable[None]]


@runtime_checkable
class Returning(Protocol):
    """A processor with work of its own that comes again."""

    def works(self, link: Link) -> list[Periodic]: ...


async def keep_time(link: Link, works: list[Periodic], look_every: float = 1.0) -> None:
    """For ever. The row's next time is moved by whoever gets there first; the others find it in the future."""
    await persistently(lambda: link.fetch(KNOW, [work.name for work in works]), "periodic work")
    while True:
        for work in works:
            try:
                if await link.fetch(statement("tick"), work.name, work.every):
                    await work.run()
            except LinkLost as error:
                log.warning("periodic work put off", name=work.name, error=str(error))
            except Exception as error:  # noqa: BLE001 (a mistake in one of them must not end the others)
                log.error("periodic work broke", name=work.name, error=repr(error))
        await asyncio.sleep(look_every)
