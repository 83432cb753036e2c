"""Three workers and a person do whatever they like, in any order: the database is always as a small model says."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from glisk.engine import control, store
from glisk.engine.decide import Done, Fail, Retry, Row, Verdict, Wait, decide
from glisk.engine.link import Link
from glisk.engine.reaper import Reaper
from glisk.engine.settler import Settler
from glisk.engine.statements import statement
from glisk.errors import UnknownParent
from glisk.repositories import job_repository
from glisk.repositories.job_repository import NewJob
from glisk.workflows import JOBS
from tests.faults.model import ACTIVE, FLOW, GOOD, MOST_RECLAIMS, Model

LEASE = timedelta(hours=1)
MANY = settings(
    max_examples=300 if os.environ.get("PROVE") else 40,
    stateful_step_count=60 if os.environ.get("PROVE") else 50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
NEW = "INSERT INTO jobs (workflow) VALUES ('model') RETURNING id"
EXPIRE = "UPDATE jobs SET leased_until = now() - interval '1 s' WHERE id = $1"
ROWS = """
    SELECT id, status, epoch, retry_count, reclaims, leased_by, finished_at IS NOT NULL AS finished, paused_at IS NOT NULL AS paused,
      dependency_count, (SELECT count(*) FROM job_dependencies d WHERE d.child_id = j.id AND released_at IS NULL) AS waits,
      EXISTS (SELECT FROM job_dependencies d JOIN jobs p ON p.id = d.parent_id
              WHERE d.child_id = j.id AND released_at IS NULL AND p.finished_at IS NOT NULL) AS waits_in_vain
    FROM jobs j ORDER BY id"""
RISEN = """SELECT count(*) FROM events WHERE from_status IN ('completed', 'failed') AND NOT (actor = 'anna' AND to_status = 'pending')"""

T = TypeVar("T")
workers = st.sampled_from(["w1", "w2", "w3"])
verdicts: st.SearchStrategy[Verdict] = st.sampled_from([Done(), Done(), Retry("no"), Retry("no"), Wait(), Fail("no")])

pytestmark = pytest.mark.faults


class Interleavings(RuleBasedStateMachine):
    """Each rule does the same to the database and to the model; what comes back must be what the model says."""

    runner: ClassVar[asyncio.Runner]
    link: ClassVar[Link]

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.believed: dict[str, dict[int, Row]] = {"w1": {}, "w2": {}, "w3": {}}  # what each worker thinks is its own
        self.settler = Settler(self.link, "w", GOOD, lambda _: None)
        self.reaper = Reaper(self.link, [FLOW], MOST_RECLAIMS, "reaper", GOOD)
        self.do(self.link.fetch("TRUNCATE jobs, job_dependencies, events CASCADE"))

    def do(self, work: Awaitable[T]) -> T:
        async def run() -> T:
            return await work

        return self.runner.run(run())

    def some_id(self, data: st.DataObject) -> int:
        return data.draw(st.sampled_from(sorted(self.model.jobs)))

    def some_beliefs(self, data: st.DataObject) -> dict[int, Row]:
        return self.believed[data.draw(st.sampled_from([name for name, rows in self.believed.items() if rows]))]

    @precondition(lambda self: len(self.model.jobs) < 6)
    @rule(data=st.data(), on_failure=st.sampled_from(["fail", "ignore"]))
    def enqueue(self, data: st.DataObject, on_failure: Any) -> None:
        ids = sorted(self.model.jobs)
        parents = data.draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)) if ids else []
        try:
            id = self.do(self.insert(parents, on_failure))
        except UnknownParent:
            assert not self.model.accepts(parents, on_failure)
        else:
            assert self.model.accepts(parents, on_failure)
            self.model.enqueue(id, parents, on_failure)

    async def insert(self, parents: list[int], on_failure: Any) -> int:
        async with self.link.transaction() as fetch:
            id = int((await fetch(NEW))[0]["id"])
            if parents:
                await job_repository.depend(fetch, id, NewJob("model", parents=parents, on_failure=on_failure))
            return id

    @rule(worker=workers, waiting=st.sampled_from(sorted(FLOW.steps)), suspects=st.booleans(), limit=st.integers(1, 3))
    def claim(self, worker: str, waiting: str, suspects: bool, limit: int) -> None:
        ready = self.model.ready(waiting, suspects=suspects)
        terms: Any = {"limit": limit, "worker": worker, "lease": LEASE, "suspects": suspects}
        rows = self.do(store.claim(self.link.fetch, FLOW, waiting, **terms))
        ids = {row["id"] for row in rows}
        assert ids <= ready
        assert len(ids) == min(limit, len(ready))
        self.model.claim(ids, worker)
        for row in rows:
            self.believed[worker][row["id"]] = Row(
                row["id"], row["epoch"], FLOW.active(waiting), waiting, row["retry_count"]
            )

    @precondition(lambda self: any(self.believed.values()))
    @rule(data=st.data())
    def heartbeat(self, data: st.DataObject) -> None:
        beliefs = self.some_beliefs(data).values()
        terms = ([row.id for row in beliefs], [row.epoch for row in beliefs], LEASE)
        kept = {row["id"] for row in self.do(self.link.fetch(statement("heartbeat", JOBS), *terms))}
        assert kept == {row.id for row in beliefs if self.model.jobs[row.id].epoch == row.epoch}
        for id in kept:
            self.model.jobs[id].is_expired = False

    @precondition(lambda self: any(self.believed.values()))
    @rule(verdict=verdicts, data=st.data(), is_repeated=st.booleans())
    def settle(self, verdict: Verdict, data: st.DataObject, is_repeated: bool) -> None:
        """In time or too late, once or twice."""
        beliefs = self.some_beliefs(data)
        row = beliefs[data.draw(st.sampled_from(sorted(beliefs)))]
        to = decide(FLOW, row, verdict)
        self.do(self.settler.write(JOBS, [(row, to)]))
        self.model.settle(row.id, row.epoch, to)
        if not is_repeated:
            del beliefs[row.id]

    @precondition(lambda self: any(job.holder for job in self.model.jobs.values()))
    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(id for id, job in self.model.jobs.items() if job.holder)))
        self.do(self.link.fetch(EXPIRE, id))
        self.model.jobs[id].is_expired = True

    @precondition(lambda self: any(job.is_expired for job in self.model.jobs.values()))
    @rule()
    def reap(self) -> None:
        expired = sum(job.is_expired for job in self.model.jobs.values())
        assert self.do(self.reaper.reap()) == expired
        self.model.reap()

    @precondition(lambda self: self.model.jobs)
    @rule(data=st.data(), action=st.sampled_from(["pause", "resume", "cancel", "retry", "retry"]))
    def a_person_acts(self, data: st.DataObject, action: str) -> None:
        """One rule for all of it: a person acts less often than the workers."""
        id, link = self.some_id(data), self.link
        match action:
            case "pause":
                assert self.do(control.pause(link, JOBS, [id], "anna")) == self.model.pause(id, True)
            case "resume":
                assert self.do(control.resume(link, JOBS, [id], "anna")) == self.model.pause(id, False)
            case "cancel":
                assert self.do(control.cancel(link, JOBS, [id], "anna", GOOD)) == self.model.cancel(id)
            case "retry":
                assert self.do(control.retry(link, JOBS, [id], "pending", "anna")) == self.model.retry(id)

    @invariant()
    def the_rows_are_sound_and_as_the_model_says(self) -> None:
        rows = self.do(self.link.fetch(ROWS))
        for row in rows:
            self.check(row)
        assert {row["id"]: tuple(row)[1:9] for row in rows} == {
            id: (
                *(job.status, job.epoch, job.retry_count, job.reclaims, job.holder),
                *(job.is_finished, job.is_paused, len(job.waits_for)),
            )
            for id, job in self.model.jobs.items()
        }

    def check(self, row: Any) -> None:
        assert (row["leased_by"] is not None) == (row["status"] in ACTIVE), "a lease is held by one, and only at work"
        assert row["dependency_count"] == row["waits"]
        assert not row["waits_in_vain"]
        assert row["retry_count"] <= 3
        assert row["reclaims"] <= MOST_RECLAIMS + 1

    @invariant()
    def only_a_persons_retry_leads_out_of_an_end(self) -> None:
        (risen,) = self.do(self.link.fetch(RISEN))
        assert risen["count"] == 0


@pytest.mark.timeout(1800)
def test_any_interleaving_of_workers_and_people_is_as_the_model_says(database_url: str) -> None:
    class Here(Interleavings):
        runner, link = asyncio.Runner(), Link(database_url)

    with Here.runner:
        run_state_machine_as_test(Here, settings=MANY)
        Here.runner.run(Here.link.close())
