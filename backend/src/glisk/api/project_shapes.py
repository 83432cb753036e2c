"""Projects as JSON: the columns as seed 002 calls them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from glisk.repositories import project_repository
from glisk.storage.keys import SHAPE

PROJECT_ID = "6f1c1f0e-7c0b-4f55-9d0c-3a1e0d1f2a3b"
JOB_ID = "0c9a64bd-58b1-4e9c-8a00-0000000003e9"
PICTURE = "https://glisk.example/objects/sha256/ab/abcd….png"
PROJECT: dict[str, Any] = {
    "projectId": PROJECT_ID,
    "userId": "anna",
    "projectType": "existing",
    "status": "completed",
    "original_image_url": PICTURE,
    "generated_image_url": PICTURE,
    "generated_image_urls": [PICTURE],
    "error_message": None,
    "jobId": JOB_ID,
    "progress": 100,
    "created_at": "2026-01-01T12:00:01.200000Z",
    "updated_at": "2026-01-01T12:00:09.100000Z",
}


class Project(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": PROJECT}, populate_by_name=True)

    project_id: UUID = Field(alias="projectId")
    user_id: str = Field(alias="userId")
    project_type: str | None = Field(alias="projectType")
    status: Literal["draft", "processing", "completed", "failed"] = Field(
        description="As its latest edit stands; `draft` before the first."
    )
    original_image_url: str | None
    generated_image_url: str | None = Field(description="The latest.")
    generated_image_urls: list[str] = Field(description="All of them, the latest last.")
    error_message: str | None = Field(description="Why its latest edit failed.")
    job_id: UUID | None = Field(alias="jobId", description="Of its latest edit.")
    progress: int = Field(description="Of its latest edit, 0 to 100.")
    created_at: datetime
    updated_at: datetime


class Projects(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": {"projects": [PROJECT], "next": None}})

    projects: list[Project]
    next: str | None = Field(description="For ?cursor=, to see older ones. None: there are none.")


class Editing(BaseModel):
    """As seed 002 has it."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"jobId": JOB_ID, "status": "processing"}}, populate_by_name=True
    )

    job_id: UUID = Field(alias="jobId")
    status: Literal["processing"] = "processing"


def shown(project: project_repository.Project, address: str) -> Project:
    """`address`: ours."""
    latest, every = project.generated_image_url, project.generated_image_urls or []
    return Project(
        project_id=project.project_id,
        user_id=project.user_id,
        project_type=project.project_type,
        status=project.status,
        original_image_url=url_of(project.original_image_url, address),
        generated_image_url=url_of(latest, address),
        generated_image_urls=[url for each in every if (url := url_of(each, address))],
        error_message=project.job_error if project.status == "failed" else None,
        job_id=project.job_id,
        progress=project.progress,
        created_at=project.created_at,
        updated_at=project.updated_at,
    )


def url_of(place: str | None, address: str) -> str | None:
    """An object of ours by its address; what lies elsewhere is called as it was."""
    return f"{address}/objects/{place}" if place and SHAPE.fullmatch(place) else place
