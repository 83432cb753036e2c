"""Tokens that a real worker draws through Replicate's stand-in, at the speed of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from glisk.dev.standins.replicate_control import ReplicateControl
from glisk.engine.lanes import Lane
from glisk.engine.link import Link
from glisk.engine.worker import Pace, Station, Worker
from glisk.engine.workflow import Workflow
from glisk.processors.generating import Generating
from glisk.providers import chosen
from glisk.providers.port import Painter
from glisk.providers.replicate.poller import Rhythm
from glisk.settings import Settings
from glisk.workers.staffing import make_lanes
from glisk.workflows import JOBS, TOKEN, TOKENS
from tests.builders import CHAIN, CONTRACT
from tests.engines import QUICK, running, true

HASTY = replace(
    TOKEN, steps={waiting: replace(step, backoff=QUICK, deadline=None) for waiting, step in TOKEN.steps.items()}
)
TERMS: dict[str, Any] = {"rhythm": Rhythm(0.01, 1.2, 0.1), "grace": (0.02, 0.05, 0.1)}
STEADY = Pace(concurrency=600, batch=100, lease=timedelta(seconds=20), poll=timedelta(milliseconds=100))
A_TOKEN = f"""
    WITH author AS (INSERT INTO authors (wallet_address, prompt_text)
                    VALUES ('0x' || lpad(to_hex($1::bigint), 40, '0'), $2) RETURNING author_id)
    INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, generation_attempts)
    SELECT {CHAIN}, '{CONTRACT}', $1, author_id, $3 FROM author RETURNING id"""
COLUMNS = "status, image_url, generation_attempts, generation_error, prompt_source, image_key, image_sha256, image_mime"


@dataclass(slots=True)
class Atelier:
    """A database, a stand-in and a place for pictures; workers come and go."""

    url: str
    connection: Any
    standin: ReplicateControl
    data_dir: Path

    def settings(self, **changes: Any) -> Settings:
        usual: dict[str, Any] = {
            "data_dir": self.data_dir,
            "image_provider": "replicate",
            "replicate_api_token": SecretStr("r8_test"),
            "replicate_url": self.standin.url,
        }
        return Settings(**(usual | changes))

    async def token(self, token_id: int = 1, prompt: str | None = "A sunset over mountains", attempts: int = 0) -> int:
        return int(await self.connection.fetchval(A_TOKEN, token_id, prompt, attempts))

    @asynccontextmanager
    async def at_work(
        self,
        settings: Settings | None = None,
        *,
        flow: Workflow = HASTY,
        pace: Pace = STEADY,
        name: str = "w",
        waiting: str = "detected",
        painter: Painter | None = None,
        **terms: Any,
    ) -> AsyncIterator[Worker]:
        settings = settings or self.settings()
        processor = Generating(settings, painter or chosen.replicate(settings, **(TERMS | terms)))
        station = Station(flow, waiting, processor, Lane(processor.painter.name, (TOKENS, JOBS)))
        await self.lane(station)
        worker = Worker(self.url, [station], name, pace)
        try:
            async with running(worker):
                yield worker
        finally:
            await processor.close()

    async def lane(self, station: Station) -> None:
        link = Link(self.url)
        await make_lanes(link, [station])
        await link.close()

    async def until(self, condition: str, n: int = 1) -> None:
        """So many tokens are like that."""
        await true(self.connection, f"SELECT count(*) >= {n} FROM tokens_s0 WHERE {condition}")

    async def row(self, token_id: int = 1) -> dict[str, Any]:
        found = await self.connection.fetchrow(f"SELECT {COLUMNS} FROM tokens_s0 WHERE token_id = $1", token_id)
        return dict(found)

    async def drawn(self, *, n: int = 1, **terms: Any) -> dict[str, Any]:
        """A worker works until so many tokens have left the step, for better or worse."""
        async with self.at_work(**terms):
            await self.until("status IN ('uploading', 'failed', 'review')", n)
        return await self.row()

    async def attempts(self) -> list[dict[str, Any]]:
        rows = await self.connection.fetch("SELECT * FROM attempts ORDER BY attempt_id")
        return [dict(row) for row in rows]

    async def outcomes(self) -> list[str]:
        return [attempt["outcome"] for attempt in await self.attempts()]

    def charged(self) -> int:
        return int(self.standin.charges()["total"])

    def created(self) -> int:
        return int(self.standin.charges()["creations"]["total"])
