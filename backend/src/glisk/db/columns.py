"""Kinds of columns: their types, and how a table's class declares them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import DateTime, Dialect, Identity, Numeric, Text, text
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import TypeDecorator, UserDefinedType
from sqlmodel import Field


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


def column(sa_type: Any, **options: Any) -> Any:
    """A column that may be NULL."""
    return Field(default=None, sa_type=sa_type, **options)


def defaulted(sa_type: Any, by_database: str, here: Any = None) -> Any:
    """A column the database fills when we don't. An unset value is left out of the INSERT, so the default applies."""
    return Field(default=here, sa_type=sa_type, nullable=False, sa_column_kwargs={"server_default": text(by_database)})


def key(sa_type: Any, *, always: bool) -> Any:
    return Field(default=None, primary_key=True, sa_type=sa_type, sa_column_args=[Identity(always=always)])


def belongs_to(target: str, sa_type: Any = Text, *, nullable: bool = True, ondelete: Any = "CASCADE") -> Any:
    return Field(default=None, foreign_key=target, ondelete=ondelete, sa_type=sa_type, nullable=nullable)
