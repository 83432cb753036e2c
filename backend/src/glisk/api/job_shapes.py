"""Jobs as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

JOB_ID = "0c9a64bd-58b1-4e9c-8a00-0000000003e9"
MADE: dict[str, Any] = {"jobId": JOB_ID, "status": "pending"}
JOB: dict[str, Any] = {
    **MADE,
    "name": "image",
    "workflow": "r2_image",
    "userId": "anna",
    "progress": 0,
    "attempts": 0,
    "maxAttempts": 3,
    "priority": 0,
    "data": {"prompt": "a lighthouse in fog"},
    "createdAt": "2026-01-01T12:00:01.200000Z",
}


class Shape(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Made(Shape):
    model_config = ConfigDict(json_schema_extra={"example": MADE})

    job_id: UUID
    status: str


class Job(Shape):
    model_config = ConfigDict(json_schema_extra={"example": JOB})

    job_id: UUID
    status: str = Field(
        description="As its workflow calls it; `delayed` and `paused` while it waits for its time or for a person."
    )
    name: str | None = None
    workflow: str
    user_id: str | None = None
    conversation_id: str | None = None
    project_id: UUID | None = None
    parent_job_id: UUID | None = Field(None, description="The first of those it waits for.")
    dependency_count: int = Field(0, description="How many it still waits for.")
    progress: int = Field(0, description="0 to 100.")
    attempts: int = Field(0, description="Failures in a row at the step it is at.")
    max_attempts: int | None = None
    priority: int = Field(0, description="0 to 9; the higher the sooner.")
    data: dict[str, Any] = Field(description="What it was given, and what its steps left for the next one.")
    opts: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    result_url: str | None = None
    error: str | None = None
    created_at: datetime
    ready_at: datetime | None = Field(None, description="Not before then. None: when those it waits for have ended.")
    processed_on: datetime | None = Field(None, description="When it was taken up last.")
    finished_on: datetime | None = Field(None, description="When it ended, well or not.")
    delivered_at: datetime | None = Field(None, description="When its result was fetched.")


class Jobs(Shape):
    model_config = ConfigDict(json_schema_extra={"example": {"jobs": [JOB], "next": "MTA0Mg"}})

    jobs: list[Job]
    next: str | None = Field(None, description="For ?cursor=, to see older ones. None: there are none.")


def shown(row: dict[str, Any]) -> Job:
    never = row["ready_at"] is None or row["ready_at"].year > 9000  # PostgreSQL's infinity
    return Job(
        job_id=row["job_id"],
        status=row["shown"],
        parent_job_id=row["parent"],
        attempts=row["retry_count"],
        data=msgspec.json.decode(row["payload"]),
        opts=decoded(row["opts"]),
        result=decoded(row["result"]),
        error=row["error_message"],
        ready_at=None if never else row["ready_at"],
        processed_on=row["started_at"],
        finished_on=row["finished_at"],
        **{name: row[name] for name in ALIKE},
    )


ALIKE = (
    *("name", "workflow", "user_id", "conversation_id", "project_id", "dependency_count", "progress"),
    *("max_attempts", "priority", "result_url", "created_at", "delivered_at"),
)


def decoded(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)
