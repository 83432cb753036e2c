"""What the server answers, as values. What a newer server tells beside is passed over."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from msgspec import Struct, field


class Made(Struct, frozen=True, rename="camel"):
    job_id: UUID
    status: str


class Job(Struct, frozen=True, rename="camel"):
    job_id: UUID
    status: str
    workflow: str
    data: dict[str, Any]
    created_at: datetime
    name: str | None = None
    user_id: str | None = None
    conversation_id: str | None = None
    project_id: UUID | None = None
    parent_job_id: UUID | None = None
    dependency_count: int = 0
    progress: int = 0
    attempts: int = 0
    max_attempts: int | None = None
    priority: int = 0
    opts: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    result_url: str | None = None
    error: str | None = None
    ready_at: datetime | None = None
    processed_on: datetime | None = None
    finished_on: datetime | None = None
    delivered_at: datetime | None = None

    @property
    def is_over(self) -> bool:
        return self.finished_on is not None


class JobPage(Struct, frozen=True):
    jobs: list[Job]
    next: str | None = None


class Standing(Struct, frozen=True):
    """What of a job changes while it is worked on."""

    status: str
    progress: int = 0
    error: str | None = None


class Result(Struct, frozen=True):
    """What came of a job: a picture, a failure's `error`, or what its task has made."""

    status: str
    picture: bytes | None = field(name="image_data_base64", default=None)
    mime: str | None = field(name="image_type", default=None)
    error: str | None = None
    result: Any = None


class Uploaded(Struct, frozen=True, rename="camel"):
    """`key`: for `files.raw`."""

    key: str
    name: str
    original_name: str
    size: int
    content_type: str
    url: str


class Uploads(Struct, frozen=True):
    files: list[Uploaded]


class Image(Struct, frozen=True, rename="camel"):
    """`data` is None if its bytes are lost."""

    key: str
    name: str
    content_type: str
    size: int
    data: bytes | None = None


class Sample(Struct, frozen=True):
    """A picture to take from: a data URL, an address, or the key of one that is yours."""

    url: str
    name: str | None = None


class MaskRegion(Struct, frozen=True, rename="camel"):
    """Where a sample goes: it is counted from 0."""

    sample_index: int
    mask: str


class Project(Struct, frozen=True):
    project_id: UUID = field(name="projectId")
    user_id: str = field(name="userId")
    status: Literal["draft", "processing", "completed", "failed"]
    created_at: datetime
    updated_at: datetime
    project_type: str | None = field(name="projectType", default=None)
    original_image_url: str | None = None
    generated_image_url: str | None = None
    generated_image_urls: list[str] = []
    error_message: str | None = None
    job_id: UUID | None = field(name="jobId", default=None)
    progress: int = 0


class ProjectPage(Struct, frozen=True):
    projects: list[Project]
    next: str | None = None


class Conversation(Struct, frozen=True, rename="camel"):
    """`jobs`: its latest, where one is shown by itself."""

    conversation_id: str
    type: Literal["dm", "project_channel"]
    user_id: str
    jobs: list[Job] = []


class ConversationPage(Struct, frozen=True):
    conversations: list[Conversation]
    next: str | None = None


class Picture(Struct, frozen=True):
    url: str
    mime: str | None = None
    image_cid: str | None = None
    metadata_cid: str | None = None
    metadata_url: str | None = None


class Token(Struct, frozen=True):
    token_id: str
    collection: str
    author: str
    status: str
    minted_at: datetime
    updated_at: datetime
    picture: Picture | None = None
    token_uri: str | None = None
    reveal_tx: str | None = None


class TokenPage(Struct, frozen=True):
    tokens: list[Token]
    next: str | None = None
