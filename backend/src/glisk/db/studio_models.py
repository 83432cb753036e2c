"""The tables of the studio beside its jobs: users, and what is theirs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, Index, LargeBinary, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from glisk.db.columns import Instant, belongs_to, column, defaulted, key

NEW_UUID = text("gen_random_uuid()")
PICTURES = "pictures_in(original_image_url || (generated_image_url || generated_image_urls))"


class User(SQLModel, table=True):
    __tablename__ = "users"

    user_id: str = Field(primary_key=True, sa_type=Text)
    created_at: datetime | None = defaulted(Instant, "now()")


class Conversation(SQLModel, table=True):
    __tablename__ = "conversations"
    __table_args__: ClassVar[Any] = (Index("conversations_user", "user_id"),)

    conversation_id: str = Field(primary_key=True, sa_type=Text)
    type: str = Field(sa_type=Text)
    user_id: str = belongs_to("users.user_id", nullable=False)


class Project(SQLModel, table=True):
    __tablename__ = "projects"
    __table_args__: ClassVar[Any] = (
        Index("projects_user", "user_id", "created_at"),
        Index("projects_pictures", text(PICTURES), postgresql_using="gin"),
    )

    project_id: UUID | None = Field(default=None, primary_key=True, sa_column_kwargs={"server_default": NEW_UUID})
    user_id: str = belongs_to("users.user_id", nullable=False)
    project_type: str | None = column(Text)
    original_image_url: str | None = column(Text)
    generated_image_url: str | None = column(Text)
    generated_image_urls: list[str] | None = column(ARRAY(Text))
    created_at: datetime | None = defaulted(Instant, "now()")
    updated_at: datetime | None = defaulted(Instant, "now()")


class File(SQLModel, table=True):
    """What a user has uploaded, under its name; the bytes are an object."""

    __tablename__ = "files"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("user_id", "name", name="files_user_name"),
        Index("files_object", "object_key"),
        Index("files_delivered", "delivered_at", postgresql_where=text("delivered_at IS NOT NULL")),
    )

    file_id: int | None = key(BigInteger, always=True)
    user_id: str = belongs_to("users.user_id", nullable=False)
    name: str = Field(sa_type=Text)
    object_key: str = Field(sa_type=Text)
    mime: str = Field(sa_type=Text)
    size: int = Field(sa_type=BigInteger)
    created_at: datetime | None = defaulted(Instant, "now()")
    delivered_at: datetime | None = column(Instant)


class JobInput(SQLModel, table=True):
    """An object that a job was given."""

    __tablename__ = "job_inputs"
    __table_args__: ClassVar[Any] = (Index("job_inputs_object", "object_key"),)

    item_id: int = Field(primary_key=True, foreign_key="jobs.id", ondelete="CASCADE", sa_type=BigInteger)
    object_key: str = Field(primary_key=True, sa_type=Text)


class Request(SQLModel, table=True):
    """One that its client may send again, and the job that came of it."""

    __tablename__ = "requests"
    __table_args__: ClassVar[Any] = (Index("requests_item", "item_id"),)

    owner: str = Field(primary_key=True, sa_type=Text)
    key: str = Field(primary_key=True, sa_type=Text)
    request_sha256: bytes = Field(sa_type=LargeBinary)
    item_id: int = Field(foreign_key="jobs.id", ondelete="CASCADE", sa_type=BigInteger)
    created_at: datetime | None = defaulted(Instant, "now()")


class Leftover(SQLModel, table=True):
    """An object that somebody has let go of."""

    __tablename__ = "leftovers"
    __table_args__: ClassVar[Any] = (Index("leftovers_since", "since"),)

    object_key: str = Field(primary_key=True, sa_type=Text)
    since: datetime | None = defaulted(Instant, "now()")
    deleting_until: datetime | None = column(Instant)
