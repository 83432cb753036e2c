"""The tables of what is read from chains, as SQLModel classes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, ForeignKeyConstraint, Index, Integer, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from glisk.db.columns import Instant, Uint256, column, defaulted


class ChainCursor(SQLModel, table=True):
    """How far a contract has been read: to the tip once, to the confirmed block twice."""

    __tablename__ = "chain_cursor"

    chain_id: int = Field(primary_key=True, sa_type=BigInteger)
    contract_address: str = Field(primary_key=True, sa_type=Text)
    start_no: int = Field(sa_type=BigInteger)
    tip_no: int = Field(sa_type=BigInteger)
    tip_hash: bytes = Field(sa_type=LargeBinary)
    confirmed_no: int = Field(sa_type=BigInteger)
    confirmed_hash: bytes = Field(sa_type=LargeBinary)
    safe_no: int = defaulted(BigInteger, "'-1'::integer", -1)
    head_no: int = defaulted(BigInteger, "'-1'::integer", -1)
    head_at: datetime | None = column(Instant)
    first_token_id: int | None = column(Uint256)
    next_token_id: int | None = column(Uint256)
    halted: str | None = column(Text)
    alarm: str | None = column(Text)
    epoch: int = defaulted(BigInteger, "0", 0)
    updated_at: datetime | None = defaulted(Instant, "now()")


class HotBlock(SQLModel, table=True):
    __tablename__ = "hot_block"
    __table_args__: ClassVar[Any] = (
        ForeignKeyConstraint(
            ["chain_id", "contract_address"],
            ["chain_cursor.chain_id", "chain_cursor.contract_address"],
            ondelete="CASCADE",
        ),
    )

    chain_id: int = Field(primary_key=True, sa_type=BigInteger)
    contract_address: str = Field(primary_key=True, sa_type=Text)
    number: int = Field(primary_key=True, sa_type=BigInteger)
    hash: bytes = Field(sa_type=LargeBinary)
    parent_hash: bytes = Field(sa_type=LargeBinary)
    block_at: datetime = Field(sa_type=Instant)


class ChainEvent(SQLModel, table=True):
    __tablename__ = "chain_event"
    __table_args__: ClassVar[Any] = (
        Index("chain_event_height", "chain_id", "contract_address", "block_number"),
        Index(
            *("chain_event_orphaned", "chain_id", "contract_address", "block_number"),
            postgresql_where=text("orphaned_at IS NOT NULL"),
        ),
        Index(
            *("chain_event_undecodable", "chain_id", "contract_address"),
            postgresql_where=text("kind = 'undecodable'"),
        ),
    )

    chain_id: int = Field(primary_key=True, sa_type=BigInteger)
    block_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    log_index: int = Field(primary_key=True, sa_type=Integer)
    contract_address: str = Field(sa_type=Text)
    block_number: int = Field(sa_type=BigInteger)
    tx_hash: bytes = Field(sa_type=LargeBinary)
    kind: str = Field(sa_type=Text)
    first_token_id: int | None = column(Uint256)
    quantity: int | None = column(Integer)
    minter: str | None = column(Text)
    author: str | None = column(Text)
    problem: str | None = column(Text)
    raw: dict[str, Any] | None = column(JSONB)
    seen_at: datetime | None = defaulted(Instant, "now()")
    orphaned_at: datetime | None = column(Instant)


class ChainSeat(SQLModel, table=True):
    __tablename__ = "chain_seat"

    seat: str = Field(primary_key=True, sa_type=Text)
    beat_at: datetime | None = defaulted(Instant, "now()")
