"""Pictures, masks and jobs that edit them, with a real worker and OpenAI's stand-in."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pydantic import SecretStr

from glisk.dev.standins.control import Control
from glisk.engine import control
from glisk.engine.lanes import Lane
from glisk.engine.link import Link
from glisk.engine.worker import Pace, Station, Worker
from glisk.images.colours import Colour
from glisk.images.opened import as_png, opened
from glisk.processors.editing import Editing
from glisk.providers import editors
from glisk.repositories.job_repository import JobRepository
from glisk.settings import Settings
from glisk.storage.objects import Objects
from glisk.workers.staffing import make_lanes
from glisk.workflows import IMAGE_EDIT, JOBS
from tests.builders import PROJECT, an_edit
from tests.engines import QUICK, running, true

HASTY = replace(IMAGE_EDIT, steps={"pending": replace(IMAGE_EDIT.steps["pending"], backoff=QUICK, deadline=None)})
STEADY = Pace(concurrency=20, batch=10, lease=timedelta(seconds=20), poll=timedelta(milliseconds=100))
SIZE = (96, 64)
KEY = "sk-test"
WISH = "apply brick in sample 1 to red area"


def a_photo(size: tuple[int, int] = SIZE, seed: int = 1) -> Image.Image:
    """No two pixels that are side by side are alike for certain, so that whoever changes one is seen."""
    return Image.fromarray(np.random.default_rng(seed).integers(40, 216, (*size[::-1], 3), np.uint8))


def a_hole(box: tuple[int, int, int, int], size: tuple[int, int] = SIZE) -> Image.Image:
    """A mask as OpenAI has it: transparent where the picture is to change."""
    mask = Image.new("RGBA", size, (0, 0, 0, 255))
    mask.paste((0, 0, 0, 0), box)
    return mask


def a_brick(colour: Colour = (180, 60, 40)) -> Image.Image:
    return Image.new("RGB", (32, 32), colour)


def data_url(image: Image.Image) -> str:
    return "data:image/png;base64," + base64.b64encode(as_png(image)).decode()


def in_jpeg(image: Image.Image, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **options)
    return buffer.getvalue()


@dataclass(slots=True)
class Retouching:
    """A database, a stand-in and a place for pictures; workers come and go."""

    url: str
    connection: Any
    standin: Control | None
    data_dir: Path

    def settings(self, **changes: Any) -> Settings:
        usual: dict[str, Any] = {"data_dir": self.data_dir}
        if self.standin:
            usual |= {"openai_api_key": SecretStr(KEY), "openai_url": self.standin.url}
        return Settings(**(usual | changes))

    async def job(self, original: str | None = None, **payload: Any) -> int:
        place = original or data_url(a_photo())
        await self.connection.execute("UPDATE projects SET original_image_url = $1", place)
        link = Link(self.url)
        enqueued = await JobRepository(link).enqueue(an_edit({"prompt": WISH} | payload))
        await link.close()
        return enqueued.id

    @asynccontextmanager
    async def at_work(
        self, settings: Settings | None = None, *, pace: Pace = STEADY, name: str = "w", **terms: Any
    ) -> AsyncIterator[Worker]:
        settings = settings or self.settings()
        editor = editors.openai(settings, **terms) if self.standin else None
        processor = Editing(settings, editor, rests_s=(0.01, 0.01))
        station = Station(HASTY, "pending", processor, Lane(processor.editor.name, (JOBS,)))
        link = Link(self.url)
        await make_lanes(link, [station])
        worker = Worker(self.url, [station], name, pace)
        try:
            async with running(worker):
                yield worker
        finally:
            await processor.close()
            await link.close()

    async def until(self, condition: str, n: int = 1) -> None:
        await true(self.connection, f"SELECT count(*) >= {n} FROM jobs WHERE {condition}")

    async def edited(self, settings: Settings | None = None, n: int = 1, **terms: Any) -> dict[str, Any]:
        """A worker works until so many jobs have ended."""
        async with self.at_work(settings, **terms):
            await self.until("finished_at IS NOT NULL", n)
        return await self.row()

    async def retried(self, id: int) -> None:
        """By a person."""
        link = Link(self.url)
        assert await control.retry(link, JOBS, [id], "pending", "anna") == [id]
        await link.close()

    async def row(self) -> dict[str, Any]:
        return dict(await self.connection.fetchrow("SELECT * FROM jobs ORDER BY id DESC LIMIT 1"))

    async def project(self) -> dict[str, Any]:
        return dict(await self.connection.fetchrow("SELECT * FROM projects WHERE project_id = $1", PROJECT))

    async def attempts(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.connection.fetch("SELECT * FROM attempts ORDER BY attempt_id")]

    async def outcomes(self) -> list[str]:
        return [attempt["outcome"] for attempt in await self.attempts()]

    def charged(self) -> int:
        assert self.standin
        return int(self.standin.charges()["total"])

    def objects(self) -> Objects:
        return Objects.of(self.settings())

    async def picture(self) -> Image.Image:
        """That the last job has left."""
        data = await self.objects().get((await self.row())["output_r2_key"])
        assert data
        return opened(data)


def result_of(row: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads(row["result"]))
