"""The dashboard over real HTTP, on a real database, as it is served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glisk.engine.link import Link
from glisk.hosting import Home, application
from glisk.repositories.key_repository import KeyRepository
from glisk.settings import Settings
from tests.serving import served

THE_WORLD = {"public_url": "http://gallery.test"}  # behind a proxy: nobody is the operator without a key


@dataclass(frozen=True)
class House:
    """Where the pages are, and what is behind them."""

    address: str
    link: Link
    settings: Settings

    async def key(self, name: str = "anna") -> str:
        return await KeyRepository(self.link).make(name, "operator", "a test")


@asynccontextmanager
async def opened(url: str, data_dir: Path, *, is_local: bool = True, **settings: Any) -> AsyncIterator[House]:
    """`is_local`: whoever comes is the operator; else only who has a key."""
    made = Settings(**({"data_dir": data_dir} | ({} if is_local else THE_WORLD) | settings))
    link = Link(url)
    async with application(Home(made, made, url)) as app, served(app) as address:
        yield House(address, link, made)
    await link.close()
