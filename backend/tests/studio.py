"""The studio as people use it: a server, keys of two users, and jobs that end as a test says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx

from glisk.repositories.job_repository import key_in
from glisk.repositories.key_repository import KeyRepository, Terms
from glisk.storage.objects import Objects
from tests.visiting import TLS, Visit, visiting

# As a worker settles it.
SETTLE = """
    UPDATE jobs SET status = $2, epoch = epoch + 1, finished_at = CASE WHEN $3 THEN now() END, output_r2_key = $4,
      error_message = $5, result = $6::jsonb, progress = 100 WHERE id = $1"""


@dataclass(frozen=True)
class Studio:
    visit: Visit
    anna: httpx.AsyncClient
    ben: httpx.AsyncClient

    @property
    def operator(self) -> httpx.AsyncClient:
        return self.visit.operator

    @property
    def public(self) -> httpx.AsyncClient:
        return self.visit.public

    async def job(self, **body: Any) -> str:
        """One of anna's."""
        made = await self.anna.post("/jobs", json={"prompt": "a lighthouse in fog"} | body)
        assert made.status_code == 201, made.text
        return str(made.json()["jobId"])

    async def settle(self, job_id: str, status: str, picture: bytes | None = None, **facts: Any) -> str | None:
        """The key of its picture."""
        key = None
        if picture is not None:
            key = (await Objects.of(self.visit.settings).put(picture, "image/png", "png")).key
        terms = (facts.get("key", key), facts.get("error"), facts.get("result"))
        await self.visit.link.fetch(SETTLE, number(job_id), status, facts.get("is_over", True), *terms)
        return key

    async def rows(self, sql: str, *arguments: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.visit.link.fetch(sql, *arguments)]


def number(job_id: str) -> int:
    return key_in(UUID(job_id))


@asynccontextmanager
async def open_studio(url: str, **settings: Any) -> AsyncIterator[Studio]:
    async with visiting(url, **settings) as visit, AsyncExitStack() as stack:
        people = [await stack.enter_async_context(await client(visit, name)) for name in ("anna", "ben")]
        yield Studio(visit, *people)


async def client(visit: Visit, user: str, **terms: Any) -> httpx.AsyncClient:
    key = await KeyRepository(visit.link).make(f"{user}'s key", "user", "a test", Terms(**{"user_id": user} | terms))
    return httpx.AsyncClient(base_url=visit.address, headers={"Authorization": f"Bearer {key}"}, verify=TLS)
