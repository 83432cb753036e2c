"""The way of a token as people look at it: how many have come how far, how long each step takes, and what its lanes let through."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from glisk.engine.workflow import FAILED, REVIEW
from glisk.repositories.board import Board
from glisk.workflows import TOKEN, WORKFLOWS

NEWEST = 10_000  # events from which times are told
ORPHANED = "orphaned"
STEPS = {waiting: TOKEN.active(waiting) for waiting in TOKEN.steps}
# An index answers alone; only of those that left the way it must be seen how far they had come, and they are few.
COUNTS = "SELECT status, count(*) AS tokens FROM tokens_s0 GROUP BY status"
STOPPED = """
    SELECT count(image_key) AS drawn, count(metadata_cid) AS pinned FROM tokens_s0 WHERE status = ANY ($1::text[])"""
# Ids are given in the order of mints, so the first in a status is the one that is there from the oldest mint. Compared as pairs:
# else the planner may walk over all the tokens that were minted before it.
OLDEST = """
    SELECT s.status, t.id, t.chain_id, t.contract_address, t.token_id, t.detected_at FROM unnest($1::text[]) AS s(status) CROSS JOIN LATERAL (
      SELECT id, chain_id, contract_address, token_id::text, detected_at, status FROM tokens_s0 WHERE (status, id) > (s.status, 0) ORDER BY tokens_s0.status, id LIMIT 1) AS t
    WHERE t.status = s.status"""
# Of the newest events and no more. Before its work a row has waited, since the event before.
TIMES = """
    WITH newest AS MATERIALIZED (
      SELECT event_id, item_id, workflow, from_status, to_status, at, claimed_at FROM events ORDER BY xact DESC, event_id DESC LIMIT $1),
    told AS (
      SELECT *, lag(at) OVER (PARTITION BY item_id ORDER BY event_id) AS before FROM newest WHERE workflow = $2),
    timed AS (
      SELECT from_status AS step, extract(epoch FROM claimed_at - before)::float8 AS wait, extract(epoch FROM at - claimed_at)::float8 AS work
      FROM told WHERE claimed_at IS NOT NULL)
    SELECT step, count(*) AS times, percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY wait) AS wait,
      percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY work) AS work
    FROM timed GROUP BY step"""
REVEALED = """
    WITH newest AS MATERIALIZED (
      SELECT item_id, to_status, at FROM events ORDER BY xact DESC, event_id DESC LIMIT $1)
    SELECT count(*) AS tokens, percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM e.at - t.detected_at)::float8) AS took
    FROM newest e JOIN tokens_s0 t ON t.id = e.item_id WHERE e.to_status = 'revealed'"""
# As a claim in a lane counts them (the part `live` of the engine's statements).
LANES = """
    SELECT l.lane, CASE WHEN held_at IS NOT NULL AND (held_until IS NULL OR held_until > now()) THEN 'held' WHEN open_at > now() THEN 'closed' ELSE 'open' END AS state,
      max_concurrency, COALESCE(live.n, 0) AS in_use, NULLIF(rate, 1e9) AS rate, NULLIF(max_rate, 1e9) AS max_rate,
      NULLIF(open_at, '-infinity') AS open_at, held_at, held_until, held_reason, live.steps
    FROM lanes l LEFT JOIN LATERAL (
      SELECT sum(t.n + j.n)::bigint AS n, array_agg(DISTINCT s.active) AS steps FROM lane_steps s
      CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM tokens_s0 WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL
                          ORDER BY id LIMIT 10000) AS x) AS t
      CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM jobs WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL
                          ORDER BY id LIMIT 10000) AS x) AS j
      WHERE s.lane = l.lane) AS live ON true
    ORDER BY l.lane"""


class Oldest(Struct, frozen=True):
    id: int
    chain_id: int
    contract_address: str
    token_id: str
    detected_at: datetime


class Pair(Struct, frozen=True):
    """Seconds: half of them took no longer, and 95 of a hundred. None: nothing is known yet."""

    p50: float | None = None
    p95: float | None = None


class StepTimes(Struct, frozen=True):
    """`ahead`, `at_work`: how many tokens wait for it now, and how many it has. `times`: of so many is told how long it took."""

    step: str
    waiting: str
    ahead: int
    at_work: int
    oldest: Oldest | None
    times: int
    wait: Pair
    work: Pair


class Stage(Struct, frozen=True):
    """How many tokens have come so far."""

    name: str
    tokens: int


class Pipeline(Struct, frozen=True):
    stages: list[Stage]
    steps: list[StepTimes]
    statuses: dict[str, int]
    revealed: int  # among the newest events
    took: Pair  # from mint to reveal

    @property
    def is_empty(self) -> bool:
        return not self.statuses

    @property
    def longest(self) -> float:
        """Seconds that a token usually spends in the slowest step."""
        return max((step.wait.p50 or 0) + (step.work.p50 or 0) for step in self.steps)


class PipelineBoard(Board):
    async def pipeline(self) -> Pipeline:
        statuses: dict[str, int] = {row["status"]: row["tokens"] for row in await self.listed(COUNTS)}
        (stopped,) = await self.listed(STOPPED, [FAILED, REVIEW])
        (revealed,) = await self.listed(REVEALED, NEWEST)
        return Pipeline(
            stages(statuses, stopped["drawn"], stopped["pinned"]),
            await self.steps(statuses),
            statuses,
            revealed["tokens"],
            pair(revealed["took"]),
        )

    async def steps(self, statuses: dict[str, int]) -> list[StepTimes]:
        oldest = await self.oldest([*STEPS])
        times = {row["step"]: row for row in await self.listed(TIMES, NEWEST, TOKEN.name)}
        return [
            StepTimes(
                *(active, waiting, statuses.get(waiting, 0), statuses.get(active, 0), oldest.get(waiting)),
                *timed(times.get(active)),
            )
            for waiting, active in STEPS.items()
        ]

    async def oldest(self, statuses: list[str]) -> dict[str, Oldest]:
        """The token in each of these statuses that was minted first."""
        return {row.pop("status"): Oldest(**row) for row in await self.listed(OLDEST, statuses)}

    async def lanes(self) -> list[dict[str, Any]]:
        """Every lane, with how many of its slots are in use."""
        return await self.listed(LANES)


def stages(statuses: dict[str, int], drawn: int, pinned: int) -> list[Stage]:
    """`drawn`, `pinned`: how many of those that left the way were so far."""
    minted = sum(statuses.values()) - statuses.get(ORPHANED, 0)
    revealed = statuses.get("revealed", 0)
    to_pin, to_reveal = ([waiting, active] for waiting, active in list(STEPS.items())[1:])
    is_pinned = revealed + sum(statuses.get(status, 0) for status in to_reveal) + pinned
    is_drawn = is_pinned - pinned + sum(statuses.get(status, 0) for status in to_pin) + drawn
    return [Stage("minted", minted), Stage("drawn", is_drawn), Stage("pinned", is_pinned), Stage("revealed", revealed)]


def timed(row: dict[str, Any] | None) -> tuple[int, Pair, Pair]:
    return (0, Pair(), Pair()) if row is None else (row["times"], pair(row["wait"]), pair(row["work"]))


def pair(seconds: list[float] | None) -> Pair:
    return Pair() if seconds is None else Pair(*(None if each is None else max(each, 0.0) for each in seconds))


def actives() -> list[tuple[str, str]]:
    """Every workflow's active states: where rows have leases."""
    return [(flow.name, flow.active(waiting)) for flow in WORKFLOWS.values() for waiting in flow.steps]
