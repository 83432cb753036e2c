"""The tables as SQLModel classes. Such classes do not validate: the database's CHECKs guard the rows, callers guard the doors."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    Computed,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    SmallInteger,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

# Here as well: whoever asks for the models wants to know every table.
from glisk.db.access_models import Alert as Alert
from glisk.db.access_models import ApiKey as ApiKey
from glisk.db.access_models import AuthorPrompt as AuthorPrompt
from glisk.db.access_models import Outbox as Outbox
from glisk.db.chain_models import ChainCursor as ChainCursor
from glisk.db.chain_models import ChainEvent as ChainEvent
from glisk.db.chain_models import ChainNonce as ChainNonce
from glisk.db.chain_models import ChainSeat as ChainSeat
from glisk.db.chain_models import ChainSender as ChainSender
from glisk.db.chain_models import ChainTx as ChainTx
from glisk.db.chain_models import HotBlock as HotBlock
from glisk.db.columns import Instant, Uint256, Xid8, belongs_to, column, defaulted, key
from glisk.db.studio_models import Conversation as Conversation
from glisk.db.studio_models import File as File
from glisk.db.studio_models import JobInput as JobInput
from glisk.db.studio_models import Leftover as Leftover
from glisk.db.studio_models import Project as Project
from glisk.db.studio_models import Request as Request
from glisk.db.studio_models import User as User

# As PostgreSQL writes them back: the comparison with the migrations is one of texts.
JOB_READY = """CASE
    WHEN (((status = 'pending'::text) OR (status ~~ 'ready-for-%'::text)) AND (status !~~ '%-failed'::text)) THEN 1
    ELSE 0
END"""
JOB_READY_AT = """CASE
    WHEN ((dependency_count > 0) OR (paused_at IS NOT NULL)) THEN 'infinity'::timestamp with time zone
    WHEN (not_before IS NOT NULL) THEN not_before
    WHEN (retry_count = 0) THEN created_at
    ELSE (((last_retry AT TIME ZONE 'UTC'::text) + ('00:01:00'::interval * power((2)::double precision,
        (LEAST((retry_count)::integer, 12))::double precision))) AT TIME ZONE 'UTC'::text)
END"""


ATTEMPT_WEI = "((details ->> 'wei'::text))::numeric(78,0)"


class Work(SQLModel):
    """The columns by which the engine works: the same in every work table, beside `id`, `workflow`, `status` and `ready_at`."""

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


def work_indexes(name: str) -> tuple[Index, ...]:
    """Of what waits, of what is at work, and of what was at work when its process died, twice."""
    waits, suspect = text("finished_at IS NULL AND leased_by IS NULL"), text("finished_at IS NULL AND reclaims >= 2")
    return (
        Index(f"{name}_waiting", "workflow", "status", "priority", "ready_at", "id", postgresql_where=waits),
        Index(f"{name}_leased", "workflow", "status", "id", postgresql_where=text("leased_by IS NOT NULL")),
        Index(f"{name}_suspect", "workflow", "status", postgresql_where=suspect),
    )


class Author(SQLModel, table=True):
    __tablename__ = "authors"

    author_id: int | None = key(Integer, always=False)
    wallet_address: str = Field(sa_type=Text, unique=True)
    prompt_text: str | None = column(Text)
    prompt_disclosure: str | None = column(Text)
    prompt_nonce: int = defaulted(BigInteger, "0", 0)


class Token(Work, table=True):
    __tablename__ = "tokens_s0"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("id", name="tokens_s0_id_key"),
        *work_indexes("tokens"),
        Index("tokens_status", "status", "id"),
        Index("tokens_author", "author_id", "id"),
        Index("tokens_image", "image_key", postgresql_where=text("image_key IS NOT NULL")),
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

    # Work.
    id: int | None = defaulted(BigInteger, "nextval('work_id')")
    workflow: str = defaulted(Text, "'token'", "token")
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

    # The log that made it. All NULL: it was not the listener who brought it.
    minter: str | None = column(Text)
    mint_block: int | None = column(BigInteger)
    mint_block_hash: bytes | None = column(LargeBinary)
    mint_tx: bytes | None = column(LargeBinary)
    mint_log: int | None = column(Integer)

    # What the world was told.
    tags: list[str] | None = column(JSONB(none_as_null=True))
    prompt_salt: bytes | None = column(LargeBinary)
    token_uri: str | None = column(Text)
    reveal_tx: bytes | None = column(LargeBinary)


class ImagePrint(SQLModel, table=True):
    __tablename__ = "image_prints"

    item_id: int = Field(primary_key=True, foreign_key="tokens_s0.id", ondelete="CASCADE", sa_type=BigInteger)
    coarse: int = Field(sa_type=BigInteger)
    fine: bytes = Field(sa_type=LargeBinary)


class Pin(SQLModel, table=True):
    """A CID, and a place where it is to be."""

    __tablename__ = "pins"
    __table_args__: ClassVar[Any] = (Index("pins_due", "pinner", "check_at"), Index("pins_item", "item_id"))

    cid: str = Field(primary_key=True, sa_type=Text)
    pinner: str = Field(primary_key=True, sa_type=Text)
    item_id: int = Field(foreign_key="tokens_s0.id", ondelete="CASCADE", sa_type=BigInteger)
    object_key: str = Field(sa_type=Text)
    label: str = Field(sa_type=Text)
    pinned_at: datetime | None = column(Instant)
    check_at: datetime | None = defaulted(Instant, "now()")
    missing_since: datetime | None = column(Instant)
    error: str | None = column(Text)


class Event(SQLModel, table=True):
    __tablename__ = "events"
    __table_args__: ClassVar[Any] = (
        Index("events_item", "item_id", "event_id"),
        Index(
            *("events_by_hand", "xact", "event_id"),
            postgresql_where=text("claimed_at IS NULL AND (item_id IS NULL OR from_status IS NOT NULL)"),
        ),
    )

    xact: int | None = Field(
        default=None,
        primary_key=True,
        sa_type=Xid8,
        sa_column_kwargs={"server_default": text("pg_current_xact_id()")},
    )
    event_id: int | None = key(BigInteger, always=True)
    item_id: int | None = column(BigInteger)
    workflow: str | None = column(Text)
    from_status: str | None = column(Text)
    to_status: str = Field(sa_type=Text)
    epoch: int | None = column(BigInteger)
    at: datetime | None = defaulted(Instant, "now()")
    actor: str = Field(sa_type=Text)
    data: dict[str, Any] | None = column(JSONB)
    claimed_at: datetime | None = column(Instant)


class Job(Work, table=True):
    __tablename__ = "jobs"
    __table_args__: ClassVar[Any] = (
        *work_indexes("jobs"),
        Index(
            *("jobs_unique", "unique_key"),
            unique=True,
            postgresql_where=text("unique_key IS NOT NULL AND finished_at IS NULL"),
        ),
        Index("jobs_user", "user_id", "created_at", postgresql_where=text("user_id IS NOT NULL")),
        Index(
            "jobs_conversation", "conversation_id", "created_at", postgresql_where=text("conversation_id IS NOT NULL")
        ),
        Index("jobs_project", "project_id", "created_at", postgresql_where=text("project_id IS NOT NULL")),
        Index("jobs_output", "output_r2_key", postgresql_where=text("output_r2_key IS NOT NULL")),
        Index("jobs_delivered", "delivered_at", postgresql_where=text("delivered_at IS NOT NULL")),
        Index("jobs_parent", "parent_job_id", "dependency_count", postgresql_where=text("parent_job_id IS NOT NULL")),
    )

    # Work.
    id: int | None = Field(
        default=None,
        primary_key=True,
        sa_type=BigInteger,
        sa_column_kwargs={"server_default": text("nextval('work_id')")},
    )
    workflow: str = Field(sa_type=Text)
    status: str = defaulted(Text, "'pending'", "pending")

    # Seeds 000, 001, 002 and 004.
    job_id: UUID | None = defaulted(Uuid, "new_job_id()")
    name: str | None = column(Text)
    user_id: str | None = belongs_to("users.user_id")
    conversation_id: str | None = belongs_to("conversations.conversation_id")
    project_id: UUID | None = belongs_to("projects.project_id", sa_type=Uuid)
    payload: dict[str, Any] = defaulted(JSONB, "'{}'")
    opts: dict[str, Any] | None = column(JSONB)
    result: dict[str, Any] | None = column(JSONB)
    result_url: str | None = column(Text)
    output_r2_key: str | None = column(Text)
    error_message: str | None = column(Text)
    stacktrace: str | None = column(Text)
    progress: int = defaulted(SmallInteger, "0", 0)
    max_attempts: int | None = column(SmallInteger)
    unique_key: str | None = column(Text)
    parent_job_id: int | None = belongs_to("jobs.id", sa_type=BigInteger, ondelete="SET NULL")
    dependency_count: int = defaulted(Integer, "0", 0)
    has_children: bool = defaulted(Boolean, "false", False)
    paused_at: datetime | None = column(Instant)
    delivered_at: datetime | None = column(Instant)
    dispatched_until: datetime | None = column(Instant)
    created_at: datetime | None = defaulted(Instant, "now()")
    ready: int | None = column(SmallInteger, sa_column_args=[Computed(JOB_READY, persisted=True)])
    ready_at: datetime | None = column(Instant, sa_column_args=[Computed(JOB_READY_AT, persisted=True)])


class JobDependency(SQLModel, table=True):
    __tablename__ = "job_dependencies"
    __table_args__: ClassVar[Any] = (Index("job_dependencies_child", "child_id"),)

    parent_id: int = Field(primary_key=True, foreign_key="jobs.id", ondelete="CASCADE", sa_type=BigInteger)
    child_id: int = Field(primary_key=True, foreign_key="jobs.id", ondelete="CASCADE", sa_type=BigInteger)
    on_failure: str = defaulted(Text, "'fail'", "fail")
    released_at: datetime | None = column(Instant)


class Attempt(SQLModel, table=True):
    __tablename__ = "attempts"
    __table_args__: ClassVar[Any] = (
        Index("attempts_item", "item_id", "attempt_id"),
        Index("attempts_spend", "started_at", postgresql_where=text("cost > 0")),
        Index("attempts_gas", "started_at", postgresql_where=text("wei > 0")),
        Index(
            "attempts_free",
            "started_at",
            postgresql_include=["provider", "model"],
            postgresql_where=text("step = 'generating' AND outcome = 'done' AND COALESCE(cost, 0) = 0"),
        ),
        Index(
            "attempts_seed",
            "provider",
            "seed",
            unique=True,
            postgresql_where=text("outcome = 'open' AND seed IS NOT NULL"),
        ),
        Index("attempts_transaction", "receipt", "attempt_id", postgresql_where=text("step = 'revealing'")),
        Index("attempts_one_open", "item_id", "step", unique=True, postgresql_where=text("outcome = 'open'")),
    )

    attempt_id: int | None = key(BigInteger, always=True)
    item_id: int = Field(sa_type=BigInteger)
    step: str = Field(sa_type=Text)
    epoch: int = Field(sa_type=BigInteger)
    provider: str = Field(sa_type=Text)
    model: str | None = column(Text)
    seed: int | None = column(BigInteger)
    prompt_sha256: bytes | None = column(LargeBinary)
    prompt: str | None = column(Text)
    prompt_source: str | None = column(Text)
    receipt: str | None = column(Text)
    outcome: str = defaulted(Text, "'open'", "open")
    error_code: str | None = column(Text)
    error: str | None = column(Text)
    cost: Decimal | None = column(Numeric(12, 6))
    worker: str = Field(sa_type=Text)
    started_at: datetime | None = defaulted(Instant, "now()")
    finished_at: datetime | None = column(Instant)
    details: dict[str, Any] | None = column(JSONB)
    wei: int | None = column(Uint256, sa_column_args=[Computed(ATTEMPT_WEI, persisted=True)])


class Lane(SQLModel, table=True):
    __tablename__ = "lanes"

    lane: str = Field(primary_key=True, sa_type=Text)
    max_concurrency: int = Field(sa_type=Integer)
    max_rate: float = defaulted(REAL, "1e9", 1e9)
    rate: float = defaulted(REAL, "1e9", 1e9)
    burst: float = defaulted(REAL, "1", 1)
    tokens: float = defaulted(REAL, "1", 1)
    refilled_at: datetime | None = defaulted(Instant, "now()")
    open_at: datetime | None = defaulted(Instant, "'-infinity'")
    held_at: datetime | None = column(Instant)
    held_reason: str | None = column(Text)
    held_until: datetime | None = column(Instant)


class LaneStep(SQLModel, table=True):
    __tablename__ = "lane_steps"

    workflow: str = Field(primary_key=True, sa_type=Text)
    active: str = Field(primary_key=True, sa_type=Text)
    lane: str | None = belongs_to("lanes.lane")


class PausedWorkflow(SQLModel, table=True):
    __tablename__ = "paused_workflows"

    workflow: str = Field(primary_key=True, sa_type=Text)
    paused_at: datetime | None = defaulted(Instant, "now()")
    actor: str = Field(sa_type=Text)


class Periodic(SQLModel, table=True):
    __tablename__ = "periodic"

    name: str = Field(primary_key=True, sa_type=Text)
    next_at: datetime | None = defaulted(Instant, "now()")


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
