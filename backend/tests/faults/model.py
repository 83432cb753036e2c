"""What the engine should do to a handful of jobs, in plain Python: the reference that the database is compared with."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from glisk.engine.decide import Transition
from glisk.engine.workflow import FAILED, Backoff, Step, Workflow
from glisk.workflows import JOBS

AT_ONCE = Backoff(first=timedelta(), cap=timedelta())
FLOW = Workflow(
    "model",
    JOBS,
    {
        "pending": Step("first", "halfway", max_attempts=3, backoff=AT_ONCE),
        "halfway": Step("second", "completed", max_attempts=3, backoff=AT_ONCE),
    },
)
GOOD = sorted(FLOW.goods())
ACTIVE = {FLOW.active(waiting): waiting for waiting in FLOW.steps}
MOST_RECLAIMS = 3


@dataclass(slots=True)
class Job:
    status: str = "pending"
    epoch: int = 0
    retry_count: int = 0
    reclaims: int = 0
    holder: str | None = None
    is_expired: bool = False
    is_paused: bool = False
    waits_for: set[int] = field(default_factory=set)

    @property
    def is_finished(self) -> bool:
        return status_is_final(self.status)

    @property
    def is_ready(self) -> bool:
        return self.status in FLOW.steps and not self.is_paused and not self.waits_for

    def move(self, status: str, *, retry_count: int = 0, reclaims: int = 0) -> None:
        """Every move takes the row from its holder and puts up the fence."""
        self.status, self.epoch, self.holder, self.is_expired = status, self.epoch + 1, None, False
        self.retry_count, self.reclaims = retry_count, reclaims


def status_is_final(status: str) -> bool:
    return status in FLOW.finals


@dataclass(slots=True)
class Model:
    jobs: dict[int, Job] = field(default_factory=dict)
    careless: set[tuple[int, int]] = field(default_factory=set)  # edges over which a failure does not spread

    def accepts(self, parents: Iterable[int], on_failure: str) -> bool:
        return on_failure == "ignore" or not any(self.jobs[id].status == FAILED for id in parents)

    def enqueue(self, id: int, parents: Iterable[int], on_failure: str) -> None:
        self.jobs[id] = Job(waits_for={parent for parent in parents if not self.jobs[parent].is_finished})
        if on_failure == "ignore":
            self.careless |= {(parent, id) for parent in parents}

    def ready(self, waiting: str, *, suspects: bool = False) -> set[int]:
        """Suspects, orphaned twice, are claimed apart."""
        found = {id: job for id, job in self.jobs.items() if job.is_ready and job.status == waiting}
        return {id for id, job in found.items() if (job.reclaims >= 2) == suspects}

    def claim(self, ids: Iterable[int], worker: str) -> None:
        for job in map(self.jobs.__getitem__, ids):
            job.move(FLOW.active(job.status), retry_count=job.retry_count, reclaims=job.reclaims)
            job.holder = worker

    def settle(self, id: int, epoch: int, to: Transition) -> None:
        if self.jobs[id].epoch == epoch:
            self.jobs[id].move(to.status, retry_count=to.retry_count)
            self.release({id})

    def reap(self) -> None:
        expired = {id for id, job in self.jobs.items() if job.is_expired}
        for job in map(self.jobs.__getitem__, expired):
            status = FAILED if job.reclaims >= MOST_RECLAIMS else ACTIVE[job.status]
            job.move(status, retry_count=job.retry_count, reclaims=job.reclaims + 1)
        self.release(expired)

    def cancel(self, id: int) -> list[int]:
        if self.jobs[id].is_finished:
            return []
        self.jobs[id].move(FAILED)
        self.release({id})
        return [id]

    def retry(self, id: int) -> list[int]:
        if not self.jobs[id].is_finished:
            return []
        self.jobs[id].move("pending")
        return [id]

    def pause(self, id: int, paused: bool) -> list[int]:
        job = self.jobs[id]
        if job.is_finished or job.is_paused == paused:
            return []
        job.is_paused = paused
        return [id]

    def release(self, parents: Collection[int]) -> None:
        """Those who wait go on, or fail with what they waited for, however deep."""
        while parents := {id for id in parents if self.jobs[id].is_finished}:
            broken = set()
            for id, job in self.jobs.items():
                fatal = {p for p in job.waits_for & parents if self.jobs[p].status == FAILED} - self.unharmed(id)
                job.waits_for -= parents
                if fatal and not job.is_finished:
                    broken.add(id)
            for id in broken:
                self.jobs[id].status = FAILED  # nobody holds what waits, so there is nobody to fence off
            parents = broken

    def unharmed(self, child: int) -> set[int]:
        return {parent for parent, careless in self.careless if careless == child}
