"""The tables of what is read from chains and sent to them, as SQLModel classes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, ForeignKeyConstraint, Index, Integer, LargeBinary, Text, UniqueConstraint, text
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


class ChainSender(SQLModel, table=True):
    """A wallet of ours: the next nonce of its one stream, and what was last seen of its means."""

    __tablename__ = "chain_sender"

    chain_id: int = Field(primary_key=True, sa_type=BigInteger)
    address: str = Field(primary_key=True, sa_type=Text)
    next_nonce: int = defaulted(BigInteger, "0", 0)
    balance_wei: int | None = column(Uint256)
    fee_wei: int | None = column(Uint256)
    gas_per_token: int | None = column(BigInteger)
    seen_at: datetime | None = defaulted(Instant, "now()")


class ChainNonce(SQLModel, table=True):
    """What a nonce is for, for ever."""

    __tablename__ = "chain_nonce"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("chain_id", "sender", "nonce", "content"),
        ForeignKeyConstraint(["chain_id", "sender"], ["chain_sender.chain_id", "chain_sender.address"]),
        Index("chain_nonce_open", "chain_id", "sender", "nonce", postgresql_where=text("outcome IS NULL")),
    )

    chain_id: int = Field(primary_key=True, sa_type=BigInteger)
    sender: str = Field(primary_key=True, sa_type=Text)
    nonce: int = Field(primary_key=True, sa_type=BigInteger)
    content: bytes = Field(sa_type=LargeBinary)
    recipient: str = Field(sa_type=Text)
    data: bytes = Field(sa_type=LargeBinary)
    tokens: int = Field(sa_type=Integer)
    outcome: str | None = column(Text)
    created_at: datetime | None = defaulted(Instant, "now()")


class ChainTx(SQLModel, table=True):
    """A signed transaction. Several of one nonce differ only in what they pay."""

    __tablename__ = "chain_tx"
    __table_args__: ClassVar[Any] = (
        ForeignKeyConstraint(
            ["chain_id", "sender", "nonce", "content"],
            ["chain_nonce.chain_id", "chain_nonce.sender", "chain_nonce.nonce", "chain_nonce.content"],
        ),
        *(
            Index(
                f"chain_tx_one_{state}",
                *("chain_id", "sender", "nonce"),
                unique=True,
                postgresql_where=text(f"state = '{state}'"),
            )
            for state in ("live", "mined")
        ),
        Index("chain_tx_nonce", "chain_id", "sender", "nonce"),
    )

    hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    chain_id: int = Field(sa_type=BigInteger)
    sender: str = Field(sa_type=Text)
    nonce: int = Field(sa_type=BigInteger)
    content: bytes = Field(sa_type=LargeBinary)
    raw: bytes = Field(sa_type=LargeBinary)
    gas_limit: int = Field(sa_type=BigInteger)
    max_fee_wei: int = Field(sa_type=Uint256)
    tip_wei: int = Field(sa_type=Uint256)
    state: str = defaulted(Text, "'live'", "live")
    worker: str = Field(sa_type=Text)
    created_at: datetime | None = defaulted(Instant, "now()")
    block_no: int | None = column(BigInteger)
    block_hash: bytes | None = column(LargeBinary)
    gas_used: int | None = column(BigInteger)
    paid_wei: int | None = column(Uint256)
