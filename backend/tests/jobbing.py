"""Jobs that a real worker takes through all their steps, with the processors that a process of ours would have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from glisk import processors
from glisk.engine.link import Link
from glisk.engine.worker import Pace, Worker
from glisk.engine.workflow import Workflow
from glisk.repositories.job_repository import JobRepository, NewJob
from glisk.settings import Settings
from glisk.workers.scaling import Size
from glisk.workers.staffing import Crew, make_lanes, stations
from glisk.workflows import WORKFLOWS
from tests.engines import QUICK, running, true

PACE = Pace(concurrency=20, batch=10, lease=timedelta(seconds=20), poll=timedelta(milliseconds=100))
AN_OWNER = "INSERT INTO users (user_id) VALUES ('anna') ON CONFLICT DO NOTHING"
A_CONVERSATION = (
    "INSERT INTO conversations (conversation_id, type, user_id) VALUES ('c', 'dm', 'anna') ON CONFLICT DO NOTHING"
)


def hasty(flow: Workflow) -> Workflow:
    """With rests of a millisecond."""
    return replace(flow, steps={waiting: replace(step, backoff=QUICK) for waiting, step in flow.steps.items()})


@dataclass(slots=True)
class Shop:
    url: str
    connection: Any
    data_dir: Path

    def settings(self, **changes: Any) -> Settings:
        usual: dict[str, Any] = {"data_dir": self.data_dir, "image_size": "128x96"}
        return Settings(**(usual | changes))

    @asynccontextmanager
    async def open(self, *names: str, settings: Settings | None = None) -> AsyncIterator[Crew]:
        flows = [hasty(WORKFLOWS[name]) for name in names]
        staff = stations(flows, WORKFLOWS.values(), processors.known(), settings or self.settings())
        crew, link = Crew(staff, PACE, Size(1, 1)), Link(self.url)
        await make_lanes(link, crew.staff)
        worker = Worker(self.url, crew.staff, "w", PACE)
        try:
            async with running(worker):
                yield crew
        finally:
            await crew.close()
            await link.close()

    async def ask(self, workflow: str, payload: Mapping[str, Any], **more: Any) -> int:
        if workflow == "llm_task":
            await self.connection.execute(AN_OWNER)
            await self.connection.execute(A_CONVERSATION)
            more = {"user_id": "anna", "conversation_id": "c", **more}
        link = Link(self.url)
        try:
            return (await JobRepository(link).enqueue(NewJob(workflow, payload, **more))).id
        finally:
            await link.close()

    async def until(self, id: int, condition: str = "finished_at IS NOT NULL") -> dict[str, Any]:
        await true(self.connection, f"SELECT {condition} FROM jobs WHERE id = {id}")
        return await self.row(id)

    async def row(self, id: int) -> dict[str, Any]:
        found = dict(await self.connection.fetchrow("SELECT * FROM jobs WHERE id = $1", id))
        return found | {name: msgspec.json.decode(found[name] or "null") for name in ("payload", "result", "opts")}

    async def done(
        self, workflow: str, payload: Mapping[str, Any], settings: Settings | None = None, **more: Any
    ) -> dict[str, Any]:
        """From beginning to end."""
        async with self.open(workflow, settings=settings):
            return await self.until(await self.ask(workflow, payload, **more))

    async def attempts(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.connection.fetch("SELECT * FROM attempts ORDER BY attempt_id")]
