"""The whole state machine: what becomes of a row, given what its step concluded. Pure: no clock, no randomness, no database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, Protocol, TypeAlias, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from glisk.engine.workflow import FAILED, REVIEW, Backoff, Step, Workflow

Outcome: TypeAlias = Literal["open", "done", "refused", "failed", "cancelled", "unknown"]

ERROR_LIMIT = 1000
AFTER_A_HOLD = timedelta(seconds=5)  # the lane is held; where there is none, this keeps us from asking without a rest
LONGEST_DELAY = timedelta(days=366)  # whatever a provider asks for: the calendar ends somewhere
COUNT_LIMIT = 1000  # a step without a budget may fail for years; the count is for people and for the back-off


class Held(Protocol):
    """What the engine knows of a claimed row: which, under which fence, from which waiting state, how often it failed, and
    the limits it has of its own. `spent`: of its budget, before this claim; `used`: as noted during it."""

    @property
    def id(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def waiting(self) -> str: ...
    @property
    def retry_count(self) -> int: ...
    @property
    def spent(self) -> int: ...
    @property
    def used(self) -> int: ...
    @property
    def max_attempts(self) -> int | None: ...
    @property
    def backoff(self) -> Backoff | None: ...


class Row(Struct, frozen=True):
    """A held row of which these values are known and no more."""

    id: int
    epoch: int
    status: str
    waiting: str
    retry_count: int = 0
    spent: int = 0
    used: int = 0
    max_attempts: int | None = None
    backoff: Backoff | None = None


class Closing(Struct, frozen=True):
    """How a paid call ended. A verdict that has one closes the call in the very transaction that moves the row."""

    attempt: int
    outcome: Outcome
    cost: Decimal | None = None
    error_code: str | None = None
    error: str | None = None
    details: Mapping[str, Any] | None = None


class Done(Struct, frozen=True):
    """The step succeeded; its facts go onto the row."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    closes: Closing | None = None


class Retry(Struct, frozen=True):
    """The step failed in a way that may pass. `category` is how a person would call it: network, rate limit, …"""

    error: str
    category: str = "transient"
    after: timedelta | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    closes: Closing | None = None


class Wait(Struct, frozen=True):
    """Not now: the provider asked for a pause, the mint is not safe yet, we are shutting down. Uses no attempt.
    `closes_lane`: a 429, which means all that goes through the lane."""

    after: timedelta = timedelta()
    error: str | None = None
    closes_lane: bool = False
    closes: Closing | None = None


class Hold(Struct, frozen=True):
    """Nothing in this lane can succeed until a person has mended the cause, or until a time has come. Uses no attempt."""

    reason: str
    until: timedelta | None = None
    closes: Closing | None = None


class Fail(Struct, frozen=True):
    """The step failed for good."""

    error: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    closes: Closing | None = None


class Review(Struct, frozen=True):
    """Done, as far as the step can tell, but a person must look before it goes on."""

    reason: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    closes: Closing | None = None


Verdict: TypeAlias = Done | Retry | Wait | Hold | Fail | Review


class Transition(Struct, frozen=True):
    """What the engine will write."""

    status: str
    is_final: bool
    retry_count: int = 0
    delay: timedelta | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    closes: Closing | None = None


def decide(workflow: Workflow, row: Held, verdict: Verdict, *, jitter: float = 0.0) -> Transition:
    to = concluded(workflow, row, verdict, jitter)
    return to if verdict.closes is None else replace(to, closes=verdict.closes)


def concluded(workflow: Workflow, row: Held, verdict: Verdict, jitter: float) -> Transition:
    step, error = workflow.steps[row.waiting], workflow.table.error
    match verdict:
        case Done():  # by far the most: what a pattern would take out of it is looked up instead
            return Transition(step.success, workflow.is_final(step.success), facts={**verdict.facts, error: None})
        case Fail(message, facts):
            return Transition(FAILED, True, row.retry_count, facts={**facts, error: storable(message)})
        case Retry():
            return retried(workflow, step, row, verdict, jitter)
        case Wait(after, message):
            facts = {error: storable(message)} if message else {}
            return Transition(row.waiting, False, row.retry_count, bounded(after), facts | within_budget(step, row))
        case Hold(reason):
            facts = {error: storable(reason)} | within_budget(step, row)
            return Transition(row.waiting, False, row.retry_count, AFTER_A_HOLD, facts)
        case Review(reason, facts):
            status = REVIEW if REVIEW in workflow.finals else FAILED
            return Transition(status, True, row.retry_count, facts={**facts, error: storable(reason)})
        case _:
            assert_never(verdict)


def within_budget(step: Step, row: Held) -> dict[str, int]:
    """What used its last attempt in this claim and must wait all the same gets one claim more, as after a crash."""
    most = row.max_attempts or step.max_attempts
    return {step.attempts: most - 1} if step.attempts and most and row.used >= most else {}


def retried(workflow: Workflow, step: Step, row: Held, verdict: Retry, jitter: float) -> Transition:
    failures = min(row.retry_count + step.count_failure, COUNT_LIMIT)
    most = row.max_attempts or step.max_attempts
    spent = min(row.spent + 1, most or COUNT_LIMIT) if step.attempts else failures
    facts = {**verdict.facts, **({step.attempts: spent} if step.attempts else {})}
    if most is not None and spent >= most:
        message = f"Max retries exceeded after {verdict.category} errors: {verdict.error}"
        return Transition(FAILED, True, failures, facts=facts | {workflow.table.error: storable(message)})
    status = workflow.failure(row.waiting)
    backoff = row.backoff or step.backoff
    rest = backoff.after(failures, jitter) if backoff else None
    facts[workflow.table.error] = storable(verdict.error)
    delay = rest if verdict.after is None else bounded(verdict.after)
    return Transition(status, workflow.is_final(status), failures, delay, facts)


def bounded(delay: timedelta) -> timedelta:
    return min(max(delay, timedelta()), LONGEST_DELAY)


def storable(error: str, limit: int = ERROR_LIMIT) -> str:
    """PostgreSQL's text holds neither NUL nor half a surrogate pair; the column holds 1000 code points, and never nothing."""
    clean = str(error).replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
    return clean[:limit] or "unknown error"
