"""What a row may say of itself (seed 001's `opts`): when to start, how often to try, how long to rest in between."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from glisk.engine.workflow import Backoff

A_YEAR = timedelta(days=365)
Milliseconds = Annotated[int, Meta(ge=0, le=int(A_YEAR.total_seconds() * 1000))]

MOST_ATTEMPTS = 1000
Attempts = Annotated[int, Meta(ge=1, le=MOST_ATTEMPTS)]
Priority = Annotated[int, Meta(ge=0, le=9)]


class Rest(Struct, frozen=True):
    delay: Milliseconds
    type: Literal["fixed", "exponential"] = "exponential"

    def as_backoff(self) -> Backoff:
        first = timedelta(milliseconds=self.delay)
        return Backoff(first, cap=first if self.type == "fixed" else A_YEAR)


class Options(Struct, frozen=True):
    """Others may stand beside them: they are stored, for the processor."""

    delay: Milliseconds | None = None
    attempts: Attempts | None = None
    priority: Priority | None = None
    backoff: Rest | None = None


def own_backoff(opts: str | None) -> Backoff | None:
    """As the row has it, in JSON. Somebody may have written nonsense by hand: then its step's rule stands."""
    if not opts:
        return None
    try:
        rest = msgspec.json.decode(opts, type=Options).backoff
    except msgspec.MsgspecError:
        return None
    return rest.as_backoff() if rest else None
