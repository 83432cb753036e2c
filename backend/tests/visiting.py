"""The whole application as it is served, on this machine or to the world, and who visits it."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from glisk.engine.link import Link
from glisk.hosting import Home, application
from glisk.repositories.key_repository import KeyRepository
from glisk.settings import Settings
from tests.serving import served

TLS = ssl.create_default_context()  # one for all: a client that makes its own takes 40 ms for it
THE_WORLD = {"public_url": "https://glisk.example"}  # behind a proxy: everybody comes from this machine


@dataclass(frozen=True)
class Visit:
    address: str
    link: Link
    settings: Settings
    public: httpx.AsyncClient
    operator: httpx.AsyncClient

    async def key(self, scope: str = "operator") -> str:
        return await KeyRepository(self.link).make("anna", scope, "a test")


@asynccontextmanager
async def visiting(url: str, **settings: Any) -> AsyncIterator[Visit]:
    """Nobody is the operator here without a key."""
    made, link = Settings(**(THE_WORLD | settings)), Link(url)
    try:
        async with application(Home(made, made, url)) as app, served(app) as address:
            secret = await KeyRepository(link).make("the operator", "operator", "a test")
            with_key = {"Authorization": f"Bearer {secret}"}
            async with (
                httpx.AsyncClient(base_url=address, verify=TLS) as public,
                httpx.AsyncClient(base_url=address, headers=with_key, verify=TLS) as operator,
            ):
                yield Visit(address, link, made, public, operator)
    finally:
        await link.close()
