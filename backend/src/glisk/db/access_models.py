"""The tables about people: who may do what, what authors have signed, whom we tell."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Index, Integer, LargeBinary, Numeric, Text, text
from sqlmodel import Field, SQLModel

from glisk.db.columns import Instant, Xid8, belongs_to, column, defaulted, key


class ApiKey(SQLModel, table=True):
    __tablename__ = "api_keys"
    __table_args__: ClassVar[Any] = (
        Index("api_keys_live_name", "name", unique=True, postgresql_where=text("revoked_at IS NULL")),
        Index("api_keys_user", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    )

    key_id: int | None = key(Integer, always=True)
    name: str = Field(sa_type=Text)
    key_sha256: bytes = Field(sa_type=LargeBinary, unique=True)
    scope: str = Field(sa_type=Text)
    created_at: datetime | None = defaulted(Instant, "now()")
    last_used_at: datetime | None = column(Instant)
    revoked_at: datetime | None = column(Instant)
    user_id: str | None = belongs_to("users.user_id")
    rate: int | None = column(Integer)
    daily_limit: Decimal | None = column(Numeric(12, 6))


class AuthorPrompt(SQLModel, table=True):
    """A prompt that an author has published, or an operator for them: then it is not signed."""

    __tablename__ = "author_prompts"

    author_id: int = Field(primary_key=True, foreign_key="authors.author_id")
    nonce: int = Field(primary_key=True, sa_type=BigInteger)
    prompt: str = Field(sa_type=Text)
    disclosure: str | None = column(Text)
    chain_id: int | None = column(BigInteger)
    contract: str | None = column(Text)
    deadline: datetime | None = column(Instant)
    signature: bytes | None = column(LargeBinary)
    actor: str = Field(sa_type=Text)
    published_at: datetime | None = defaulted(Instant, "now()")


class Outbox(SQLModel, table=True):
    __tablename__ = "outbox"

    name: str = Field(primary_key=True, sa_type=Text)
    xact: int = Field(sa_type=Xid8)
    event_id: int = Field(sa_type=BigInteger)
    tries: int = defaulted(Integer, "0", 0)
    next_at: datetime | None = defaulted(Instant, "now()")
    error: str | None = column(Text)


class Alert(SQLModel, table=True):
    __tablename__ = "alerts"

    cause: str = Field(primary_key=True, sa_type=Text)
    kind: str = Field(sa_type=Text)
    message: str = Field(sa_type=Text)
    fix: str = Field(sa_type=Text)
    raised_at: datetime | None = defaulted(Instant, "now()")
    told_at: datetime | None = column(Instant)
    cleared_at: datetime | None = column(Instant)
