"""Makes projects and edits for people, from whatever they have sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

import msgspec
from fastapi import Request
from msgspec import Meta, Struct

from glisk.api import bodies, edits, forms, whose
from glisk.api.access import Door, Visitor
from glisk.api.edits import Kind, Payload, Picture, Wish
from glisk.api.forms import MB, Limits
from glisk.api.given import Pictures
from glisk.errors import BadJob, BadQuery, OpenJobsFull, ProjectMissing, TooManyJobs
from glisk.repositories import requests
from glisk.repositories.job_repository import NewJob
from glisk.repositories.project_repository import Project, ProjectRepository
from glisk.repositories.studio_jobs import Order, StudioJobs
from glisk.settings import Settings
from glisk.workflows import IMAGE_EDIT

FILE, URL, TYPE, USER = "originalImage", "originalImageUrl", "projectType", "userId"


class NewProject(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A project. The picture can be left out; each edit then brings its own."""

    original_image_url: Picture | None = None
    project_type: Kind = None
    user_id: (
        Annotated[str, Meta(description="whose it is: needed with an operator's key, else that of the key")] | None
    ) = None


@dataclass(frozen=True, slots=True)
class Desk:
    projects: ProjectRepository
    jobs: StudioJobs
    pictures: Pictures
    door: Door
    settings: Settings

    @property
    def limits(self) -> Limits:
        """A field may be a picture that is written out."""
        file, total = self.settings.upload_file_mb * MB, self.settings.upload_total_mb * MB
        return Limits(file, 1, total, field=min(total, file * 3 // 2))

    async def found(self, request: Request, project_id: UUID) -> tuple[Visitor, Project]:
        visitor = await self.door.person(request)
        if (project := await self.projects.one(visitor.user_id, project_id)) is None:
            raise ProjectMissing
        return visitor, project

    async def make(self, request: Request) -> UUID:
        visitor = await self.door.person(request)
        if forms.is_form(request):
            return await self.made_of_form(request, visitor)
        given = await bodies.body_of(request, NewProject, self.limits.total)
        return await self.made(request, visitor, given, None)

    async def made_of_form(self, request: Request, visitor: Visitor) -> UUID:
        async with forms.form_of(request, self.limits, (FILE, URL, TYPE, USER)) as form:
            texts = {name: forms.field(form, name) or None for name in (URL, TYPE, USER)}
            given = bodies.fitted(texts, NewProject)
            files = forms.files(form, FILE)
            if files and given.original_image_url:
                raise BadQuery(f"{FILE}: there is {URL} already; one of both is wanted.")
            return await self.made(request, visitor, given, await files[0].read() if files else None)

    async def made(self, request: Request, visitor: Visitor, given: NewProject, data: bytes | None) -> UUID:
        user, original = whose.acting_for(visitor, given.user_id), None
        if data is not None:
            original = await self.pictures.stored(FILE, data)
        elif given.original_image_url is not None:
            original = await self.pictures.place(request, visitor, URL, given.original_image_url)
        return await self.projects.make(user, given.project_type, original)

    async def edit(self, request: Request, key: str | None) -> UUID:
        """The job. Nothing is written before all of it is known to be right."""
        visitor = await self.door.person(request)
        wish = await bodies.body_of(request, Wish, self.limits.total)
        edits.require_sound(wish)
        project = await self.projects.one(visitor.user_id, wish.project_id)
        if project is None:
            raise ProjectMissing
        if project.original_image_url is None and wish.input_image_url is None:
            raise BadQuery(
                "projectId: the project has no original image.", fix="Give one with it, or as inputImageUrl."
            )
        payload = Payload(self.pictures, request, visitor)
        job = NewJob(IMAGE_EDIT.name, await payload.of(wish), user_id=project.user_id, project_id=project.project_id)
        asked = requests.asked(project.user_id, key, msgspec.to_builtins(wish)) if key else None
        return await self.enqueued(Order(job, inputs=payload.inputs, request=asked))

    async def enqueued(self, order: Order) -> UUID:
        try:
            return (await self.jobs.make(order)).job_id
        except TooManyJobs as error:
            raise OpenJobsFull from error
        except BadJob as error:
            if "project" in str(error):  # it was deleted meanwhile
                raise ProjectMissing from error
            raise BadQuery(f"{error}", fix=error.fix) from error
