"""The installation as people look at it: who is at work, what people did, what is in trouble, and how large it has become."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from msgspec import Struct

from glisk.repositories.board import Board
from glisk.repositories.pipeline_board import actives

PAGE = 50
FIRST_PAGE = (2**64 - 1, 2**63 - 1)
KEY = re.compile(r"(\d{1,20})-(\d{1,19})")
# What is at work has an index of its own, state by state.
WORKERS = """
    SELECT leased_by AS worker, count(*) AS claims, min(started_at) AS oldest, min(leased_until) AS next_expiry,
      array_agg(DISTINCT status ORDER BY status) AS steps
    FROM unnest($1::text[], $2::text[]) AS s(workflow, active) CROSS JOIN LATERAL (
      (SELECT leased_by, started_at, leased_until, status FROM tokens_s0
       WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL ORDER BY id LIMIT 10000)
      UNION ALL
      (SELECT leased_by, started_at, leased_until, status FROM jobs
       WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL ORDER BY id LIMIT 10000)) AS leased
    GROUP BY leased_by ORDER BY leased_by"""
LISTENERS = "SELECT seat, beat_at FROM chain_seat ORDER BY seat"
# The index has what is no worker's verdict and no mint; of that, what the machine does by itself is left out, and what authors
# publish themselves unless it is wanted ($4): they may be many.
AUDIT = """
    SELECT e.xact::text, e.event_id, e.item_id, e.workflow, from_status, to_status, at, actor, data, chain_id, contract_address, token_id::text
    FROM (SELECT * FROM events
          WHERE claimed_at IS NULL AND (item_id IS NULL OR from_status IS NOT NULL) AND (xact, event_id) < ($1::text::xid8, $2)
            AND actor NOT IN ('listener', 'engine') AND actor NOT LIKE 'migration %'
            AND (from_status IS DISTINCT FROM to_status OR data ? 'paused')
            AND ($4 OR NOT (to_status = 'prompt published' AND actor = data ->> 'author'))
          ORDER BY xact DESC, event_id DESC LIMIT $3) AS e LEFT JOIN tokens_s0 t ON t.id = e.item_id
    ORDER BY e.xact DESC, e.event_id DESC"""
REVISION = "SELECT version_num FROM alembic_version"
SERVER = (
    "SELECT current_setting('server_version') AS version, pg_size_pretty(pg_database_size(current_database())) AS size"
)
SIZES = """
    SELECT c.relname AS table, GREATEST(c.reltuples, 0)::bigint AS rows, pg_total_relation_size(c.oid) AS bytes,
      pg_size_pretty(pg_total_relation_size(c.oid)) AS size
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = current_schema() ORDER BY bytes DESC, c.relname"""
ALERTS = "SELECT cause, kind, message, fix, raised_at, told_at FROM alerts WHERE cleared_at IS NULL ORDER BY raised_at DESC, cause"


class Deed(Struct, frozen=True):
    """What a person did, to a token, to a job or to a part of the installation. `key`: where the next page begins."""

    key: str
    at: datetime
    actor: str
    what: str
    item_id: int | None
    workflow: str | None
    token: tuple[int, str, str] | None  # its chain, contract and id
    data: dict[str, Any]

    @property
    def told(self) -> str:
        """What it was done to, and why, as far as that is known."""
        return " · ".join(
            str(self.data[name]) for name in ("lane", "name", "reason", "contract") if self.data.get(name)
        )


class SystemBoard(Board):
    async def workers(self) -> list[dict[str, Any]]:
        """Those that hold claims; one that has nothing to do holds none."""
        flows = actives()
        return await self.listed(WORKERS, [flow for flow, _ in flows], [active for _, active in flows])

    async def listeners(self) -> list[dict[str, Any]]:
        return await self.listed(LISTENERS)

    async def alerts(self) -> list[dict[str, Any]]:
        """What is in trouble now."""
        return await self.listed(ALERTS)

    async def audit(self, before: str | None = None, limit: int = PAGE, *, with_authors: bool = False) -> list[Deed]:
        """The newest first; `before`: the key of the last one that was seen."""
        xact, event_id = cursor_in(before)
        return [a_deed(row) for row in await self.listed(AUDIT, str(xact), event_id, limit, with_authors)]

    async def versions(self) -> dict[str, str]:
        """Of the database: its server, our schema in it, how large it is."""
        (server,), (revision,) = await self.listed(SERVER), await self.listed(REVISION)
        return {"PostgreSQL": server["version"], "schema": revision["version_num"], "database": server["size"]}

    async def sizes(self) -> list[dict[str, Any]]:
        """Of each table, with its indexes; rows as the last ANALYZE estimated them."""
        return await self.listed(SIZES)


def cursor_in(key: str | None) -> tuple[int, int]:
    """What is no key is the first page."""
    found = KEY.fullmatch(key or "")
    if not found or int(found[1]) > FIRST_PAGE[0] or int(found[2]) > FIRST_PAGE[1]:
        return FIRST_PAGE
    return int(found[1]), int(found[2])


def a_deed(row: dict[str, Any]) -> Deed:
    data: dict[str, Any] = json.loads(row["data"]) if row["data"] else {}
    key = f"{row['xact']}-{row['event_id']}"
    token = None if row["token_id"] is None else (row["chain_id"], row["contract_address"], row["token_id"])
    return Deed(key, row["at"], row["actor"], told(row, data), row["item_id"], row["workflow"], token, data)


def told(row: dict[str, Any], data: dict[str, Any]) -> str:
    if row["item_id"] is None:
        return str(row["to_status"])
    if "paused" in data:
        return "paused" if data["paused"] else "resumed"
    return f"{row['from_status']} → {row['to_status']}"
