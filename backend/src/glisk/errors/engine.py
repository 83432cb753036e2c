"""Something about the work itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from glisk.errors.base import GliskError


class EngineError(GliskError):
    """Something about the work itself."""


class LeaseLost(EngineError):
    code = "GLK-601"
    summary = "The claim on this row is no longer ours, so its result was not written."
    remedy = "Nothing to do: whoever holds the claim now finishes the work. Claim again to work on it."


class WrongStatus(EngineError):
    code = "GLK-602"
    summary = "The row is not in a status in which this can be done to it."
    remedy = "Claim it first, or look at what happened to it: its events tell."


class UnknownWorkflow(EngineError):
    code = "GLK-603"
    summary = "There is no such workflow of jobs."
    remedy = "See which there are: glisk workflows ls"


class UnknownParent(EngineError):
    code = "GLK-604"
    summary = "A job cannot wait for one that does not exist or has already failed."
    remedy = "Name jobs that exist and have not failed, or say that a failure may be ignored."


class TooManyJobs(EngineError):
    code = "GLK-605"
    summary = "This user has as many open jobs as are allowed."
    remedy = "Wait until some have ended, or cancel some."


class UnknownActiveState(EngineError):
    code = "GLK-606"
    summary = "There are steps that no processor is there for."
    remedy = "Name the module that registers them (--processors MODULE), or serve other steps (--workflow NAME, --process NAME)."
    exit_code = 2

    def __init__(self, missing: Mapping[str, Sequence[str]]) -> None:
        """Each process that nobody does, with the steps that need it."""
        super().__init__(
            "".join(f"\n  Unknown active state: {process} ({', '.join(steps)})" for process, steps in missing.items())
        )


class TwoProcessors(EngineError):
    code = "GLK-607"
    summary = "Two processors are registered for one process."
    remedy = "Keep one of them, or import fewer modules with --processors."
    exit_code = 2


class BadOptions(EngineError):
    code = "GLK-608"
    summary = "The job's options cannot be used."
    remedy = "delay and backoff.delay are milliseconds, attempts 1 to 1000, priority 0 to 9, backoff.type fixed or exponential."


class BadJob(EngineError):
    code = "GLK-609"
    summary = "The job cannot be enqueued."
    remedy = "Correct what is named: priority is 0 to 9, max_attempts 1 to 1000, payload a JSON object, and its owners exist."


class BadProcessor(EngineError):
    code = "GLK-610"
    summary = "A processor's class cannot be used."
    remedy = "Give it `lane` (a name or None), `async def run(self, claim)`, and limits that allow something."
    exit_code = 2
