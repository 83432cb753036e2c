"""What all routes share that answer with something of somebody's, or make it."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import Header, Query

from glisk.api import refusal
from glisk.errors import (
    BadJob,
    BadOptions,
    BadQuery,
    CrossSite,
    DatabaseUnreachable,
    GliskError,
    KeyRefused,
    OpenJobsFull,
    TooManyJobs,
    TooOften,
    UnknownParent,
    UserKeyWanted,
)
from glisk.repositories.job_repository import Enqueued
from glisk.repositories.studio_jobs import Order, StudioJobs

HEADERS = {"Cache-Control": "private, no-store", "Vary": "Authorization, Cookie"}
ALWAYS = (UserKeyWanted, KeyRefused, CrossSite, TooOften, DatabaseUnreachable)
LONGEST_KEY = 255
IdempotencyKey: TypeAlias = Annotated[
    str | None,
    Header(max_length=LONGEST_KEY, description="Sent again with the same key and body, the same job comes back."),
]
OfUser: TypeAlias = Annotated[str | None, Query(description="Whose: for an operator. A user sees their own.")]


def answers(*errors: type[GliskError]) -> dict[int | str, dict[str, Any]]:
    return refusal.responses(*errors, *ALWAYS)


async def made(jobs: StudioJobs, order: Order) -> Enqueued:
    """What is wrong with it, in words for whoever asked."""
    try:
        return await jobs.make(order)
    except TooManyJobs as error:
        raise OpenJobsFull from error
    except UnknownParent as error:
        raise BadQuery("parents: one of them has failed, or is gone.", fix=error.fix) from error
    except BadOptions as error:
        raise BadQuery(f"opts: {error}", fix=error.fix) from error
    except BadJob as error:
        raise BadQuery(f"{error}", fix=error.fix) from error
