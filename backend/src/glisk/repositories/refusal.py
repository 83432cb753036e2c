"""Why a job cannot be enqueued, in words: which field or rule it is, and never the row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import asyncpg
import msgspec
from msgspec import Meta, Struct

from glisk.engine.options import Attempts, Priority
from glisk.engine.store import encode
from glisk.errors import BadJob

# What asyncpg and the encoder raise for a value that cannot be sent, and the server for one that it does not take.
REFUSED = (
    *(asyncpg.IntegrityConstraintViolationError, asyncpg.DataError, asyncpg.ProgramLimitExceededError),
    *(TypeError, ValueError, OverflowError, RecursionError),
)
NO_DELAY, LONGEST_DELAY = timedelta(), timedelta(days=36500)
RULES = {
    "llm_task_is_whole": "An llm_task needs a conversation_id, a user_id and a name",
    "image_edit_is_whole": "An image_edit needs a project_id and a user_id",
    "jobs_user_id_fkey": "There is no user with this user_id",
    "jobs_conversation_id_fkey": "There is no conversation with this conversation_id",
    "jobs_project_id_fkey": "There is no project with this project_id",
}
KINDS: dict[type[BaseException], str] = {
    asyncpg.UntranslatableCharacterError: "Its payload or opts hold a NUL character",
    asyncpg.CharacterNotInRepertoireError: "A text in it holds a NUL character",
    asyncpg.StatementTooComplexError: "Its payload or opts are nested too deeply",
    asyncpg.ProgramLimitExceededError: "Its unique_key, or another text, is too long",
}


class Sound(Struct, frozen=True):
    """A job's fields as they may be; msgspec's complaint names the one that is not."""

    workflow: str
    priority: Priority
    payload: dict[str, Any]
    delay: timedelta | None
    unique_key: str | None
    name: str | None
    user_id: str | None
    conversation_id: str | None
    project_id: UUID | None
    opts: dict[str, Any] | None
    max_attempts: Attempts | None
    parents: Sequence[Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]]
    on_failure: Literal["fail", "ignore"]


def refusal(jobs: Sequence[Any], error: BaseException) -> BaseException:
    """Only now is each job looked at closely: the many that are right need not wait for it. A failure that is not the
    jobs' stays what it is."""
    for wrong in filter(None, map(fault_of, jobs)):
        return BadJob(f"{wrong}.")
    rule = broken_rule(error) if isinstance(error, asyncpg.PostgresError) else None
    return BadJob(f"{rule}.") if rule else error


def fault_of(job: Any) -> str | None:
    """The first thing that is wrong with a job, as far as it can be known without the database."""
    try:
        msgspec.convert(job, Sound, from_attributes=True)
    except msgspec.ValidationError as error:
        return str(error).replace("`$.", "`")
    except RecursionError:
        return KINDS[asyncpg.StatementTooComplexError]
    if not is_in_time(job.delay):
        return f"Expected a `delay` of 0 to {LONGEST_DELAY.days} days"
    return next(unwritable(job), None)


def is_in_time(delay: timedelta | None) -> bool:
    return delay is None or NO_DELAY <= delay <= LONGEST_DELAY


def unwritable(job: Any) -> Iterator[str]:
    for name in ("payload", "opts"):
        try:
            encode(getattr(job, name))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            yield f"`{name}` cannot be written as JSON ({type(error).__name__})"
    texts = ("workflow", "unique_key", "name", "user_id", "conversation_id")
    yield from (f"`{name}` holds half a character" for name in texts if not is_whole(getattr(job, name)))


def is_whole(text: str | None) -> bool:
    """Half of a surrogate pair is no character, and cannot be sent."""
    return text is None or not any("\ud800" <= character <= "\udfff" for character in text)


def broken_rule(error: Any) -> str:
    """Not the server's own text: its details show the row."""
    if rule := error.constraint_name or error.column_name:
        return RULES.get(rule) or f"Broken rule: {rule.replace('_', ' ')}"
    return next((words for kind, words in KINDS.items() if isinstance(error, kind)), type(error).__name__)
