"""Tokens that a real worker pins at the stand-ins of the pinning services, at the speed of a test."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from glisk.dev.standins.control import Control
from glisk.engine import lanes, ledger
from glisk.engine.lanes import Lane
from glisk.engine.link import Link
from glisk.engine.worker import Pace, Station, Worker
from glisk.images.mark import marked
from glisk.processors.pinning import Pinning
from glisk.settings import Settings
from glisk.storage.objects import Objects
from glisk.workers.staffing import make_lanes
from glisk.workflows import JOBS, TOKENS
from tests import pictures
from tests.builders import IMAGE, a_token_row
from tests.drawing import HASTY, STEADY
from tests.engines import running, true
from tests.standins import JWT

PROMPT = "A fox in the snow"
AT_ONCE = 8


def a_picture(seed: int = 1) -> bytes:
    """As a model draws it, without our mark."""
    return pictures.good(seed, size=(64, 64))


@dataclass(slots=True)
class Archive:
    """A database, a place for pictures and a pinning service; workers come and go."""

    url: str
    connection: Any
    link: Link
    service: Control
    data_dir: Path

    def settings(self, **changes: Any) -> Settings:
        usual: dict[str, Any] = {
            "data_dir": self.data_dir,
            "pinata_jwt": SecretStr(JWT),
            "pinata_url": self.service.url,
            "pinata_upload_url": self.service.url,
        }
        return Settings(**(usual | changes))

    @property
    def objects(self) -> Objects:
        return Objects.of(self.settings())

    async def drawn(
        self, token_id: int = 1, *, choice: str | None = None, tags: Sequence[str] = (), **columns: Any
    ) -> bytes:
        """A token whose picture is stored and paid for; that picture."""
        data = marked(a_picture(token_id))
        stored = await self.objects.put(data, "image/webp", "webp")
        image = {"image_url": IMAGE, "image_key": stored.key, "image_mime": "image/webp", "image_sha256": sha256(data)}
        columns = {"status": "uploading", "tags": json.dumps(list(tags)), **image, **columns}
        item = await a_token_row(self.connection, token_id, **columns)
        await self.connection.execute("UPDATE authors SET prompt_disclosure = $1", choice)
        await self.paid(item)
        return data

    async def paid(self, item: int) -> None:
        asked: dict[str, Any] = {"provider": "replicate", "model": "owner/name", "seed": 5, "prompt": PROMPT}
        attempt = await ledger.open_attempt(
            *(self.link.fetch, item, "generating", 1), worker="w", prompt_source="author", **asked
        )
        await ledger.record(self.link.fetch, attempt.id, "done", receipt="an order", cost=Decimal(0))

    @asynccontextmanager
    async def at_work(
        self, settings: Settings | None = None, *, pace: Pace = STEADY, name: str = "w"
    ) -> AsyncIterator[Pinning]:
        processor = Pinning(settings or self.settings())
        assert processor.lane
        station = Station(HASTY, "uploading", processor, Lane(processor.lane, (TOKENS, JOBS)))
        await make_lanes(self.link, [station])
        await lanes.limit(self.link, processor.lane, AT_ONCE, lanes.ANY_RATE)
        worker = Worker(self.url, [station], name, pace)
        try:
            async with running(worker):
                yield processor
        finally:
            await processor.close()

    async def until(self, condition: str, n: int = 1) -> None:
        await true(self.connection, f"SELECT count(*) >= {n} FROM tokens_s0 WHERE {condition}")

    async def worked(self, until: str, settings: Settings | None = None, n: int = 1) -> dict[str, Any]:
        """A worker works until so many tokens are like that; the first of all."""
        async with self.at_work(settings):
            await self.until(until, n)
        return await self.row()

    async def pinned(self, settings: Settings | None = None, n: int = 1) -> dict[str, Any]:
        return await self.worked("status = 'ready'", settings, n)

    async def go_on(self) -> None:
        """As a person says it; and nobody waits who had to."""
        for lane in await lanes.every_lane(self.link):
            assert await lanes.resume(self.link, lane["lane"])
        await self.connection.execute("UPDATE tokens_s0 SET not_before = NULL")

    async def row(self, token_id: int = 1) -> dict[str, Any]:
        return dict(await self.connection.fetchrow("SELECT * FROM tokens_s0 WHERE token_id = $1", Decimal(token_id)))

    async def lane(self) -> dict[str, Any]:
        (found,) = await lanes.every_lane(self.link)
        return found

    async def metadata(self, cid: str) -> bytes:
        """As it is stored."""
        key = await self.connection.fetchval("SELECT object_key FROM pins WHERE cid = $1 LIMIT 1", cid)
        data = await self.objects.get(key)
        assert data is not None
        return data


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
