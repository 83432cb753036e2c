"""Projects: a picture, and the edits of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import msgspec

from glisk.client.asking import as_json, given, once
from glisk.client.calling import Caller
from glisk.client.shapes import Made, MaskRegion, Project, ProjectPage, Sample

DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Projects:
    caller: Caller

    async def make(
        self,
        picture: bytes | str | None = None,
        *,
        project_type: Literal["existing", "new_build", "architectural_drawing"] | None = None,
        user_id: str | None = None,
    ) -> Project:
        """`picture`: itself; or its address, a data URL or a key."""
        terms = given(projectType=project_type, userId=user_id)
        if isinstance(picture, bytes):
            parts = {"files": {"originalImage": ("original", picture)}, "data": terms}
        else:
            parts = as_json(terms | given(originalImageUrl=picture))
        return await self.caller.read(Project, "POST", "/projects", repeats=False, **parts)

    async def generate(
        self,
        project_id: UUID,
        prompt: str,
        *,
        samples: Sequence[Sample] = (),
        mask: str | None = None,
        mask_regions: Sequence[MaskRegion] = (),
        input_image_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> Made:
        """Edit its picture. However often it is sent, it is done once."""
        wish = given(
            projectId=project_id,
            prompt=prompt,
            samples=samples or None,
            mask=mask,
            maskRegions=mask_regions or None,
            inputImageUrl=input_image_url,
        )
        return await self.caller.read(Made, "POST", "/generate-image", **once(wish, idempotency_key))

    async def show(self, project_id: UUID) -> Project:
        return await self.caller.read(Project, "GET", f"/projects/{project_id}")

    async def list(self, *, user: str | None = None, limit: int = 50) -> AsyncGenerator[Project, None]:
        async for page in self.caller.pages(ProjectPage, "/projects", **given(user=user, limit=limit)):
            for project in page.projects:
                yield project

    async def remove(self, project_id: UUID) -> None:
        """With its edits."""
        await self.caller.ask("DELETE", f"/projects/{project_id}", repeats=False)

    async def watch(self, project_id: UUID) -> AsyncGenerator[Project, None]:
        """How it stands, now and whenever that changes, until it is removed or nobody looks any more."""
        async with aclosing(self.caller.follow(f"/projects/{project_id}/events")) as events:
            async for event in events:
                if event is not None and event.kind == DELETED:
                    return
                if event is not None:
                    yield msgspec.json.decode(event.data, type=Project)
