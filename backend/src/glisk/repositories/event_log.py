"""The events in the order in which they became certain: by transaction, then by number, below every transaction that still runs."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from glisk.repositories.board import Board
from glisk.workflows import TOKEN

# Whatever is below it has committed or never will. Nothing of a table is read for it.
NOW = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xact"
# Along the primary key. A transaction that still runs holds back all that began after it: else its events would be passed over.
PAGE = """
    SELECT e.xact::text, e.event_id, e.item_id, e.workflow, e.from_status, e.to_status, e.at, e.actor, e.data,
      t.token_id::text, t.chain_id, t.contract_address
    FROM (SELECT * FROM events
          WHERE (xact, event_id) > ($1::text::xid8, $2::bigint) AND (xact, event_id) <= ($3::text::xid8, $4::bigint)
            AND xact < pg_snapshot_xmin(pg_current_snapshot())
          ORDER BY xact, event_id LIMIT $5) AS e
      LEFT JOIN tokens_s0 t ON t.id = e.item_id AND e.workflow = $6
    ORDER BY e.xact, e.event_id"""
COUNT = """
    SELECT count(*) AS n FROM (
      SELECT FROM events WHERE (xact, event_id) > ($1::text::xid8, $2::bigint) AND (xact, event_id) <= ($3::text::xid8, $4::bigint)
      ORDER BY xact, event_id LIMIT $5) AS missed"""
KEY = re.compile(r"([0-9]{1,19})-([0-9]{1,18})")


class Position(NamedTuple):
    """In the log: behind the event that is called so, if there is one."""

    xact: int
    event_id: int

    def __str__(self) -> str:
        return f"{self.xact}-{self.event_id}"


END = Position(2**63 - 1, 0)  # no transaction comes that far


class News(msgspec.Struct, frozen=True):
    """One event; of a token's also which token it is."""

    xact: int
    event_id: int
    item_id: int | None
    workflow: str | None
    from_status: str | None
    to_status: str
    at: datetime
    actor: str
    data: dict[str, Any] | None
    token_id: str | None = None
    chain_id: int | None = None
    contract_address: str | None = None

    @property
    def position(self) -> Position:
        return Position(self.xact, self.event_id)

    @property
    def key(self) -> str:
        return str(self.position)

    @property
    def moves_a_token(self) -> bool:
        """What is noted in the middle of a step moves nothing."""
        return self.token_id is not None and self.from_status != self.to_status


class EventLog(Board):
    async def now(self) -> Position:
        """Everything before it has been told; everything after it is to come."""
        (row,) = await self.link.fetch(NOW)
        return Position(int(row["xact"]), 0)

    async def page(self, after: Position, limit: int, until: Position = END) -> list[News]:
        return [as_news(row) for row in await self.link.fetch(PAGE, *terms(after, until), limit, TOKEN.name)]

    async def count(self, after: Position, limit: int, until: Position = END) -> int:
        """Up to the limit, and no further."""
        (row,) = await self.link.fetch(COUNT, *terms(after, until), limit)
        return int(row["n"])


def position_in(key: str) -> Position:
    """Raises ValueError."""
    if not (match := KEY.fullmatch(key)):
        raise ValueError(f"{key[:50]!r} is no place in the log of events")
    return Position(int(match[1]), int(match[2]))


def terms(after: Position, until: Position) -> tuple[str, int, str, int]:
    return str(after.xact), after.event_id, str(until.xact), until.event_id


def as_news(row: Any) -> News:
    read = {"xact": int(row["xact"]), "data": row["data"] and msgspec.json.decode(row["data"])}
    return News(**{**row, **read})
