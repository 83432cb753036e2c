"""The tables as SQLModel classes. Such classes do not validate: the database's CHECKs guard the rows, callers guard the doors."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    Computed,
    DateTime,
    Dialect,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    SmallInteger,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType
from sqlmodel import Field, SQLModel


class Uint256(TypeDecorator[int]):
    """A token id: up to 78 digits, an int in Python."""

    impl = Numeric(78, 0)
    cache_ok = True

    def process_result_value(self, value: Decimal | None, dialect: Dialect) -> int | None:
        return None if value is None else int(value)


class Instant(TypeDecorator[datetime]):
    """A moment in time."""

    impl = DateTime(timezone=True)
    cache_ok = True


class Xid8(UserDefinedType[int]):
    """A transaction id that never wraps."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "XID8"


ischema_names["xid8"] = Xid8  # SQLAlchemy does not know the type when it reads a schema back


def column(sa_type: type[TypeEngine[Any]], **options: Any) -> Any:
    """A column that may be NULL."""
    return Field(default=None, sa_type=sa_type, **options)


def defaulted(sa_type: type[TypeEngine[Any]], by_database: str, here: Any = None) -> Any:
    """A column the database fills when we don't. An unset value is left out of the INSERT, so the default applies."""
    return Field(default=here, sa_type=sa_type, nullable=False, sa_column_kwargs={"server_default": text(by_database)})


def key(sa_type: type[TypeEngine[Any]], *, always: bool) -> Any:
    return Field(default=None, primary_key=True, sa_type=sa_type, sa_column_args=[Identity(always=always)])


class Author(SQLModel, table=True):
    __tablename__ = "authors"

    author_id: int | None = key(Integer, always=False)
    wallet_address: str = Field(sa_type=Text, unique=True)
    prompt_text: str | None = column(Text)


class Token(SQLModel, table=True):
    __tablename__ = "tokens_s0"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("id", name="tokens_s0_id_key"),
        Index(
            *("tokens_open", "workflow", "status", "priority", "ready_at", "id"),
            postgresql_where=text("finished_at IS NULL"),
        ),
        Index("tokens_status", "status", "id"),
        Index("tokens_author", "author_id"),
    )

    # Which token, and whose: seed 003, with the collection in the key.
    chain_id: int = Field(primary_key=True, sa_type=BigInteger)
    contract_address: str = Field(primary_key=True, sa_type=Text)
    token_id: int = Field(primary_key=True, sa_type=Uint256)
    status: str = defaulted(Text, "'detected'", "detected")
    detected_at: datetime | None = defaulted(Instant, "now()")
    author_id: int = Field(foreign_key="authors.author_id")

    # Image generation: seed 003.
    image_url: str | None = column(Text)
    generation_attempts: int = defaulted(Integer, "0", 0)
    generation_error: str | None = column(Text)

    # Work: the same in every work table; the engine knows only these.
    id: int | None = defaulted(BigInteger, "nextval('work_id')")
    workflow: str = defaulted(Text, "'token'", "token")
    priority: int = defaulted(SmallInteger, "0", 0)
    not_before: datetime | None = column(Instant)
    retry_count: int = defaulted(SmallInteger, "0", 0)
    last_retry: datetime | None = column(Instant)
    leased_by: str | None = column(Text)
    leased_until: datetime | None = column(Instant)
    epoch: int = defaulted(BigInteger, "0", 0)
    reclaims: int = defaulted(SmallInteger, "0", 0)
    started_at: datetime | None = column(Instant)
    updated_at: datetime | None = defaulted(Instant, "now()")
    finished_at: datetime | None = column(Instant)
    ready_at: datetime | None = column(
        Instant, sa_column_args=[Computed("COALESCE(not_before, detected_at)", persisted=True)]
    )

    # Facts: what the steps leave behind for the next one.
    prompt: str | None = column(Text)
    prompt_source: str = defaulted(Text, "'author'", "author")
    image_key: str | None = column(Text)
    image_sha256: bytes | None = column(LargeBinary)
    image_mime: str | None = column(Text)
    image_cid: str | None = column(Text)
    metadata_cid: str | None = column(Text)


class Event(SQLModel, table=True):
    __tablename__ = "events"
    __table_args__: ClassVar[Any] = (
        Index("events_item", "item_id", "event_id"),
        Index("events_outbox", "xact", "event_id"),
    )

    event_id: int | None = key(BigInteger, always=True)
    xact: int | None = defaulted(Xid8, "pg_current_xact_id()")
    item_id: int | None = column(BigInteger)
    workflow: str | None = column(Text)
    from_status: str | None = column(Text)
    to_status: str = Field(sa_type=Text)
    epoch: int | None = column(BigInteger)
    at: datetime | None = defaulted(Instant, "now()")
    actor: str = Field(sa_type=Text)
    data: dict[str, Any] | None = column(JSONB)


class MigrationRun(SQLModel, table=True):
    __tablename__ = "_migrations"

    run_id: int | None = key(BigInteger, always=True)
    name: str = Field(sa_type=Text)
    direction: str = Field(sa_type=Text)
    checksum: str = Field(sa_type=Text)
    started_at: datetime = Field(sa_type=Instant)
    finished_at: datetime | None = defaulted(Instant, "clock_timestamp()")
    ok: bool
    exception: str | None = column(Text)
