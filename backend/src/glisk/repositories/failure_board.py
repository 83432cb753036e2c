"""What has failed, grouped by where and why: how many, since when, what to do about it, and about what a retry would cost."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from functools import cache

from msgspec import Struct

from glisk.engine import control
from glisk.errors import catalogue
from glisk.repositories.board import Board
from glisk.repositories.job_board import JobBoard
from glisk.repositories.token_board import AS_THEY_ARE, Outcome, TokenBoard
from glisk.workflows import TOKEN

MOST = 5000  # of the newest, of each kind
LOOKED_THROUGH = 100_000  # jobs: no index finds those that have failed
CODE = re.compile(r"\bGLK-\d{3}\b")
CANCELLED = control.CANCELLED.format(actor="")
ORPHANED = re.compile(r"Orphaned \d+ times|\(orphaned in ")
UNEXPECTED = re.compile(r"(^|: )unexpected ")
# Where it stood last is in its last event; what our own code for it is, in its last attempt there.
TOKENS = """
    SELECT t.id, 'token' AS workflow, t.chain_id, t.contract_address, t.token_id::text AS name, t.finished_at AS at, t.generation_error AS error,
      num_nulls(t.image_url, t.image_key) > 0 AS is_undrawn, e.step, a.code, a.said
    FROM (SELECT * FROM tokens_s0 WHERE status = 'failed' ORDER BY id DESC LIMIT $1) AS t
    LEFT JOIN LATERAL (SELECT from_status AS step FROM events WHERE item_id = t.id ORDER BY event_id DESC LIMIT 1) AS e ON true
    LEFT JOIN LATERAL (SELECT details ->> 'code' AS code, error AS said FROM attempts WHERE item_id = t.id
                       ORDER BY attempt_id DESC LIMIT 1) AS a ON true"""
JOBS = """
    SELECT j.id, j.workflow, NULL::bigint AS chain_id, NULL AS contract_address, j.id::text AS name, j.finished_at AS at, j.error_message AS error, false AS is_undrawn, e.step,
      NULL AS code, NULL AS said
    FROM (SELECT * FROM (SELECT * FROM jobs ORDER BY id DESC LIMIT $2) AS newest
          WHERE status = 'failed' OR status LIKE '%-failed' ORDER BY id DESC LIMIT $1) AS j
    LEFT JOIN LATERAL (SELECT from_status AS step FROM events WHERE item_id = j.id ORDER BY event_id DESC LIMIT 1) AS e ON true"""
NOW = "SELECT now() AS now"
# What a picture has cost of late.
PRICE = """
    SELECT avg(cost) AS price FROM (
      SELECT cost FROM attempts WHERE cost > 0 AND step = 'generating' AND outcome = 'done' ORDER BY started_at DESC LIMIT 100) AS newest"""


class Failed(Struct, frozen=True):
    """`name`: what people call it. `code`, `said`: those of the last call that was made for it."""

    id: int
    workflow: str
    chain_id: int | None
    contract_address: str | None
    name: str
    at: datetime | None
    error: str | None
    is_undrawn: bool
    step: str | None
    code: str | None
    said: str | None


class Cause(Struct, frozen=True):
    """`code` is empty where the catalogue has none for it."""

    code: str
    summary: str
    remedy: str


class Group(Struct, frozen=True):
    """`members`: all of them, the newest first. `price`: about what a retry of all of them costs, gas aside."""

    workflow: str
    step: str
    cause: Cause
    members: list[Failed]
    first_at: datetime | None
    last_at: datetime | None
    price: Decimal

    @property
    def count(self) -> int:
        return len(self.members)

    @property
    def ids(self) -> list[int]:
        return [one.id for one in self.members]

    @property
    def sample(self) -> Failed:
        return self.members[0]

    @property
    def is_of_tokens(self) -> bool:
        return self.workflow == TOKEN.name

    @property
    def key(self) -> tuple[str, str, str]:
        return self.workflow, self.step, self.cause.code or self.cause.summary


class Failures(Struct, frozen=True):
    """`seen_at`: when they were looked at. `is_cut`: there are more, which are older."""

    groups: list[Group]
    seen_at: datetime
    is_cut: bool

    @property
    def count(self) -> int:
        return sum(group.count for group in self.groups)


CANCELLED_BY_HAND = Cause("", "Cancelled by a person.", "Nothing is wrong. Retry them if they are wanted after all.")
ORPHANED_TOO_OFTEN = Cause(
    "", "Its worker died over it, again and again.", "Look into the workers' log for what kills them, then retry these."
)
OUR_BUG = Cause("", "An unexpected error: a bug of ours.", "Read the message and the log; retry once it is mended.")
UNKNOWN = Cause("", "Another reason.", "Read the message. If it may have passed, retry these.")


class FailureBoard(Board):
    async def failures(self, until: datetime | None = None) -> Failures:
        """Of tokens and of jobs, the largest group first. `until`: as they stood then; whatever failed later is left out."""
        (now,), (price,) = await self.listed(NOW), await self.listed(PRICE)
        tokens = [Failed(**row) for row in await self.listed(TOKENS, MOST)]
        jobs = [Failed(**row) for row in await self.listed(JOBS, MOST, LOOKED_THROUGH)]
        found = [one for one in (*tokens, *jobs) if until is None or one.at is None or one.at <= until]
        groups = grouped(found, price["price"] or Decimal(0))
        return Failures(groups, now["now"], is_cut=MOST in (len(tokens), len(jobs)))

    async def group(self, key: tuple[str, str, str], until: datetime | None = None) -> Group | None:
        return next((group for group in (await self.failures(until)).groups if group.key == key), None)

    async def retry(self, group: Group, actor: str) -> tuple[int, dict[str, int]]:
        """How many went on, and how many did not, by the reason."""
        if not group.is_of_tokens:
            jobs = JobBoard(self.link)
            moved = await jobs.retry(group.ids, actor)
            return len(moved), dict(await jobs.why_not_retried(sorted(set(group.ids) - set(moved))))
        tokens = TokenBoard(self.link)
        found: Outcome = await tokens.retry(await tokens.seen(AS_THEY_ARE, group.ids), actor)
        return len(found.moved), {why: len(left) for why, left in found.left.items()}


def grouped(failed: Iterable[Failed], price: Decimal) -> list[Group]:
    """By workflow, step and cause; `price` is that of one picture."""
    found = defaultdict[tuple[str, str, Cause], list[Failed]](list)
    for one in failed:
        found[one.workflow, one.step or "", cause_of(one)].append(one)
    groups = [a_group(*key, members, price) for key, members in found.items()]
    return sorted(groups, key=lambda group: (-group.count, group.workflow, group.step, group.cause.code))


def a_group(workflow: str, step: str, cause: Cause, members: list[Failed], price: Decimal) -> Group:
    times = sorted(one.at for one in members if one.at)
    first, last = (times[0], times[-1]) if times else (None, None)
    newest = sorted(members, key=lambda one: -one.id)
    return Group(workflow, step, cause, newest, first, last, price * sum(one.is_undrawn for one in members))


def cause_of(failed: Failed) -> Cause:
    """By the code of the call that failed, if that is what its message tells of; else by the message."""
    error = failed.error or ""
    if error.startswith(CANCELLED):
        return CANCELLED_BY_HAND
    if failed.code and failed.said and failed.said in error and (found := known(failed.code)):
        return found
    return said_in(error)


def said_in(error: str) -> Cause:
    if (code := CODE.search(error)) and (found := known(code[0])):
        return found
    if cause := next((cause for cause in causes() if cause.summary in error), None):
        return cause
    if ORPHANED.search(error):
        return ORPHANED_TOO_OFTEN
    return OUR_BUG if UNEXPECTED.search(error) else UNKNOWN


@cache
def known(code: str) -> Cause | None:
    return next((cause for cause in causes() if cause.code == code), None)


@cache
def causes() -> list[Cause]:
    return [Cause(leaf.code, leaf.summary, leaf.remedy) for leaf in catalogue().values()]
