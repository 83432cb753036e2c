"""What an operator must know of, read from the database in one place; and what they have been told of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from glisk.repositories.board import Board
from glisk.repositories.means import with_means

LANES = """
    SELECT lane, COALESCE(held_reason, '') AS reason, held_until FROM lanes
    WHERE held_at IS NOT NULL AND (held_until IS NULL OR held_until > now()) ORDER BY lane"""
CHAINS = """
    SELECT chain_id || ':' || contract_address AS contract, GREATEST(head_no - tip_no, 0) AS behind, halted, alarm,
      extract(epoch FROM now() - updated_at)::float8 AS unread_s,
      extract(epoch FROM now() - COALESCE(head_at, updated_at))::float8 AS still_s
    FROM chain_cursor ORDER BY chain_id, contract_address"""
# Of each chain the wallet that was last used.
PURSES = with_means("""
    SELECT DISTINCT ON (chain_id) chain_id AS chain, address,
      REVEALS_LEFT::float8 AS reveals_left
    FROM chain_sender s WHERE balance_wei IS NOT NULL AND EXISTS (SELECT FROM chain_cursor c WHERE c.chain_id = s.chain_id)
    ORDER BY chain_id, seen_at DESC""")
# The newest: of a thousand that have failed another one is no news. Each by what its last attempt, or its error, calls it.
FAILED = """
    SELECT COALESCE(substring(t.generation_error FROM 'GLK-[0-9]{3}'), a.code, e.from_status, 'failed') AS code,
      count(*) AS many, (array_agg(t.token_id::text ORDER BY t.id DESC))[1] AS newest,
      (array_agg(t.generation_error ORDER BY t.id DESC))[1] AS error
    FROM (SELECT id, token_id, generation_error FROM tokens_s0 WHERE status = 'failed' ORDER BY id DESC LIMIT $1) AS t
      LEFT JOIN LATERAL (SELECT details ->> 'code' AS code FROM attempts WHERE item_id = t.id
                         ORDER BY attempt_id DESC LIMIT 1) AS a ON true
      LEFT JOIN LATERAL (SELECT from_status FROM events WHERE item_id = t.id AND to_status = 'failed'
                         ORDER BY event_id DESC LIMIT 1) AS e ON true
    GROUP BY 1 ORDER BY 1"""
# Those that are in each status longest, along the indexes of what waits and of what is at work: the first of a long queue are
# the oldest in it.
OLDEST = """
    SELECT token_id::text, status, extract(epoch FROM now() - detected_at)::float8 AS age_s
    FROM unnest($1::text[]) AS s(name) CROSS JOIN LATERAL (
      (SELECT token_id, status, detected_at FROM tokens_s0
       WHERE workflow = 'token' AND status = s.name AND finished_at IS NULL AND leased_by IS NULL ORDER BY priority, ready_at, id LIMIT $2)
      UNION ALL
      (SELECT token_id, status, detected_at FROM tokens_s0
       WHERE workflow = 'token' AND status = s.name AND leased_by IS NOT NULL ORDER BY id LIMIT $2)) AS t
    ORDER BY detected_at LIMIT 1"""
# Work that could be done, for how long it has been; unless somebody has anything in hand.
IDLE = """
    SELECT max(extract(epoch FROM now() - t.ready_at))::float8 AS waited_s
    FROM unnest($1::text[], $2::text[]) AS s(name, active)
      LEFT JOIN lane_steps x ON x.workflow = 'token' AND x.active = s.active LEFT JOIN lanes l ON l.lane = x.lane
      CROSS JOIN LATERAL (
        SELECT ready_at FROM tokens_s0
        WHERE workflow = 'token' AND status = s.name AND finished_at IS NULL AND leased_by IS NULL AND ready_at <= now()
        ORDER BY priority, ready_at, id LIMIT 1) AS t
    WHERE (l.held_at IS NULL OR l.held_until <= now()) AND COALESCE(l.open_at, '-infinity') <= now()
      AND NOT EXISTS (SELECT FROM paused_workflows WHERE workflow = 'token')
      AND NOT EXISTS (SELECT FROM tokens_s0 o WHERE o.workflow = 'token' AND o.status = ANY ($2) AND o.leased_by IS NOT NULL
                        AND o.leased_until > now())"""
OUTBOXES = "SELECT name, tries, COALESCE(error, '') AS error FROM outbox WHERE tries > 0 ORDER BY name"
# What has happened and cannot be told yet, since a transaction that began before it is still open: of any database of the server.
HELD_BACK = """
    SELECT extract(epoch FROM now() - at)::float8 AS seconds FROM events WHERE xact >= pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY xact, event_id LIMIT 1"""

RAISED = "SELECT cause, kind, message, fix, raised_at, told_at, cleared_at, now() AS now FROM alerts ORDER BY raised_at, cause FOR UPDATE"
RAISE = "INSERT INTO alerts (cause, kind, message, fix) VALUES ($1, $2, left($3, 1000), $4) ON CONFLICT DO NOTHING"
LASTS = "UPDATE alerts SET message = left($2, 1000), fix = $3, cleared_at = NULL WHERE cause = $1"
CLEAR = "UPDATE alerts SET cleared_at = now() WHERE cause = $1 AND cleared_at IS NULL"
FORGET = "DELETE FROM alerts WHERE cause = $1 AND raised_at = $2"
TOLD = "UPDATE alerts SET told_at = now() WHERE cause = $1 AND raised_at = $2"


class HeldLane(Struct, frozen=True):
    lane: str
    reason: str
    held_until: datetime | None = None


class Reading(Struct, frozen=True):
    """A contract that is followed. `unread_s`: since somebody last looked; `still_s`: since there was a new block."""

    contract: str
    behind: int = 0
    halted: str | None = None
    alarm: str | None = None
    unread_s: float = 0.0
    still_s: float = 0.0


class Means(Struct, frozen=True):
    """Of the wallet that reveals. None: nobody knows yet what a reveal costs."""

    chain: int
    address: str
    reveals_left: float | None


class Failed(Struct, frozen=True):
    code: str
    many: int
    newest: str
    error: str


class Oldest(Struct, frozen=True):
    token_id: str
    status: str
    age_s: float


class Stuck(Struct, frozen=True):
    name: str
    tries: int
    error: str


class Snapshot(Struct, frozen=True):
    lanes: Sequence[HeldLane] = ()
    chains: Sequence[Reading] = ()
    means: Sequence[Means] = ()
    failed: Sequence[Failed] = ()
    oldest: Oldest | None = None
    waited_s: float | None = None
    outboxes: Sequence[Stuck] = ()
    held_back_s: float = 0.0


class Cause(Struct, frozen=True):
    """Something that a person must know of. `cause` names it: for as long as it lasts it is one and the same."""

    cause: str
    kind: str
    message: str
    fix: str


class Alert(Struct, frozen=True):
    """A cause that was seen. `told_at` None: nobody has been told yet; `cleared_at`: since when it is over."""

    cause: str
    kind: str
    message: str
    fix: str
    raised_at: datetime
    told_at: datetime | None
    cleared_at: datetime | None
    now: datetime


class AlertBoard(Board):
    async def snapshot(self, steps: dict[str, str], most: int) -> Snapshot:
        """`steps`: of tokens, each waiting state with the active one, as far as somebody is to work there."""
        waiting, active = list(steps), list(steps.values())
        oldest = await self.listed(OLDEST, [*waiting, *active], most)
        held_back = await self.listed(HELD_BACK)
        (idle,) = await self.listed(IDLE, waiting, active)
        return Snapshot(
            [HeldLane(**row) for row in await self.listed(LANES)],
            [Reading(**row) for row in await self.listed(CHAINS)],
            [Means(**row) for row in await self.listed(PURSES)],
            [Failed(**row) for row in await self.listed(FAILED, most)],
            Oldest(**oldest[0]) if oldest else None,
            idle["waited_s"],
            [Stuck(**row) for row in await self.listed(OUTBOXES)],
            held_back[0]["seconds"] if held_back else 0.0,
        )

    async def note(self, causes: Sequence[Cause], patience: dict[str, timedelta]) -> list[Alert]:
        """What is in trouble now is written down, and since when; all that is written down comes back. What passes before it was to be
        told (`patience`, by kind) is forgotten; what passes later is told of, even when that could not be done in time."""
        async with self.link.transaction() as fetch:
            known = {row["cause"]: Alert(**row) for row in await fetch(RAISED)}
            for cause in causes:
                if cause.cause in known:
                    await fetch(LASTS, cause.cause, cause.message, cause.fix)
                else:
                    await fetch(RAISE, cause.cause, cause.kind, cause.message, cause.fix)
            for alert in known.values():
                if alert.cause not in {cause.cause for cause in causes}:
                    is_due = alert.told_at or alert.now - alert.raised_at >= patience.get(alert.kind, timedelta())
                    await (fetch(CLEAR, alert.cause) if is_due else fetch(FORGET, alert.cause, alert.raised_at))
            return [Alert(**row) for row in await fetch(RAISED)]

    async def was_told(self, alert: Alert) -> None:
        await self.link.fetch(TOLD, alert.cause, alert.raised_at)

    async def forget(self, alert: Alert) -> None:
        await self.link.fetch(FORGET, alert.cause, alert.raised_at)
