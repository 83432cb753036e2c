"""How it goes, in a few numbers: what the terminal shows while everything runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from msgspec import Struct

from glisk.repositories.pipeline_board import PipelineBoard

# What is on its way is few rows, along their own indexes; of what has ended each is one step of an index.
UNDER_WAY = """
    SELECT status, count(*) AS many FROM (
      SELECT status FROM tokens_s0 WHERE workflow = 'token' AND finished_at IS NULL AND leased_by IS NULL
      UNION ALL SELECT status FROM tokens_s0 WHERE workflow = 'token' AND leased_by IS NOT NULL) AS open
    GROUP BY status"""
ENDED = """
    SELECT status, (SELECT count(*) FROM tokens_s0 t WHERE t.status = s.status) AS many
    FROM unnest(ARRAY['revealed', 'failed', 'orphaned']) AS s(status)"""
CHAINS = """
    SELECT chain_id AS chain, NULLIF(head_no, -1) AS head, tip_no AS taken, GREATEST(head_no - tip_no, 0) AS lag,
      extract(epoch FROM now() - updated_at)::float8 AS seconds_ago, halted IS NOT NULL AS is_halted,
      (SELECT count(*) FROM events WHERE item_id IS NULL AND to_status = 'reorg'
         AND data @> jsonb_build_object('chain_id', chain_id, 'contract', contract_address)) AS reorgs
    FROM chain_cursor ORDER BY chain_id, contract_address"""
SPENT = """
    SELECT COALESCE(sum(cost), 0) AS spent FROM attempts
    WHERE cost > 0 AND started_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'"""
PACE = """
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS p50, percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) AS p95
    FROM (SELECT extract(epoch FROM finished_at - detected_at)::float8 AS seconds FROM tokens_s0
          WHERE status = 'revealed' ORDER BY id DESC LIMIT 200) AS newest"""


class Reading(Struct, frozen=True):
    """How far a chain has been read. `seconds_ago`: since somebody last looked."""

    chain: int
    head: int | None
    taken: int | None
    lag: int
    seconds_ago: float
    is_halted: bool
    reorgs: int


class Taken(Struct, frozen=True):
    """A lane, and how many go through it now."""

    name: str
    most: int
    held: str | None
    taken: int


class Summary(Struct, frozen=True):
    tokens: dict[str, int]
    chains: list[Reading]
    lanes: list[Taken]
    spent: Decimal
    p50: float | None
    p95: float | None

    def many(self, *statuses: str) -> int:
        return sum(self.tokens.get(status, 0) for status in statuses)


class SummaryBoard(PipelineBoard):
    async def now(self) -> Summary:
        counts = [*await self.listed(UNDER_WAY), *await self.listed(ENDED)]
        tokens = {row["status"]: row["many"] for row in counts}
        chains = [Reading(**row) for row in await self.listed(CHAINS)]
        lanes = [taken(row) for row in await self.lanes()]
        (spent,), (pace,) = await self.listed(SPENT), await self.listed(PACE)
        return Summary(tokens, chains, lanes, **spent, **pace)


def taken(lane: dict[str, Any]) -> Taken:
    """A hold that is over is none."""
    held = lane["held_reason"] if lane["state"] == "held" else None
    return Taken(lane["lane"], lane["max_concurrency"], held, lane["in_use"])
