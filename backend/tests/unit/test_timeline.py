"""A row's story: nothing that happened is left out, whatever the rows hold, and it is told in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from glisk.repositories.timeline import Entry, told
from glisk.workflows import WORKFLOWS

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
STATUSES = sorted({status for flow in WORKFLOWS.values() for status in flow.statuses()} | {"of another time"})
MOMENTS = st.integers(0, 10_000).map(lambda n: NOON + timedelta(milliseconds=n))
TEXTS = st.text(max_size=20)
DATA = st.none() | st.sampled_from(
    [
        *(
            {"error": "GLK-302: no"},
            {"error": "gone", "lost_by": "w"},
            {"error": None, "lost_by": None},
            {"reason": "why"},
        ),
        *({"censored": True}, {"paused": True}, {"paused": False}, {"archived": {"author": "0x1"}}, {"archived": 1}),
        *({}, {"reason": "mined again"}, {"something": "else"}),
    ]
)
EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "at": MOMENTS,
            "workflow": st.none() | st.sampled_from([*WORKFLOWS, "of another time"]),
            "from_status": st.none() | st.sampled_from(STATUSES),
            "to_status": st.sampled_from(STATUSES),
            "epoch": st.none() | st.integers(0, 5),
            "actor": st.sampled_from(["anna", "w", "engine"]),
            "claimed_at": st.none() | MOMENTS,
            "data": DATA,
        }
    ),
    max_size=12,
)
ATTEMPTS = st.lists(
    st.fixed_dictionaries(
        {
            "step": st.sampled_from(["generating", "pinning", "revealing", "processing"]),
            "epoch": st.integers(0, 5),
            "provider": st.just("replicate"),
            "model": st.none() | st.just("m"),
            "outcome": st.sampled_from(["open", "done", "refused", "failed", "cancelled", "unknown"]),
            "error_code": st.none() | st.sampled_from(["429", "gate"]),
            "error": st.none() | TEXTS,
            "cost": st.none() | st.decimals(0, 10, places=4),
            "wei": st.none() | st.integers(0, 2**200).map(Decimal),
            "worker": st.just("w"),
            "started_at": MOMENTS,
            "finished_at": st.none() | MOMENTS,
            "receipt": st.none() | TEXTS,
            "batch": st.none() | st.integers(1, 50),
            "gas": st.none() | st.integers(1, 10**6),
        }
    ),
    max_size=8,
)


@given(EVENTS, ATTEMPTS)
def test_nothing_is_left_out_and_all_is_in_order(events: list[dict[str, Any]], attempts: list[dict[str, Any]]) -> None:
    story = told(events, attempts)
    assert len(story.entries) >= max(len(events), len(attempts))
    assert len(story.entries) <= len(events) + len(attempts)
    assert [entry.at for entry in story.entries] == sorted(entry.at for entry in story.entries)
    closed = [attempt for attempt in attempts if attempt["outcome"] != "open"]
    assert story.cost == sum((attempt["cost"] or 0 for attempt in closed), Decimal(0))
    assert story.wei == sum(int(attempt["wei"] or 0) for attempt in closed)
    receipts = [attempt["receipt"] for attempt in attempts if attempt["receipt"] is not None]
    assert sorted(receipts) == sorted(entry.receipt for entry in story.entries if entry.receipt is not None)
    for entry in story.entries:
        assert all(lasted is None or lasted >= 0 for lasted in (entry.waited_s, entry.worked_s))
        assert entry.step


@given(EVENTS, ATTEMPTS)
def test_what_is_done_in_a_step_is_counted_from_one(
    events: list[dict[str, Any]], attempts: list[dict[str, Any]]
) -> None:
    by_step: dict[str, list[int]] = {}
    for entry in told(events, attempts).entries:
        if entry.number is not None:
            by_step.setdefault(entry.step, []).append(entry.number)
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in by_step.values())


def event(second: float, was: str | None, status: str, epoch: int, **more: Any) -> dict[str, Any]:
    usual = {"workflow": "token", "actor": "w", "claimed_at": None, "data": None}
    at = NOON + timedelta(seconds=second)
    return {**usual, "at": at, "from_status": was, "to_status": status, "epoch": epoch, **more}


def verdicts(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(entry.step, entry.verdict) for entry in told(events, []).entries]


def test_what_people_did_is_told_as_they_would_call_it() -> None:
    moves = [
        *(("generating", "failed"), ("failed", "detected"), ("uploading", "review"), ("review", "detected")),
        *(("review", "ready"), ("revealed", "detected")),
    ]
    events = [event(n, was, status, n, actor="anna") for n, (was, status) in enumerate(moves)]
    said = ["cancelled", "retried", "held", "rejected", "accepted", "sent back"]
    assert verdicts(events) == [("by hand", verdict) for verdict in said]
    assert {entry.actor for entry in told(events, []).entries} == {"anna"}


def test_what_the_chain_did_is_told_as_its_doing() -> None:
    events = [
        event(1, "ready", "orphaned", 3, actor="listener"),
        event(2, "orphaned", "ready", 4, actor="listener", data={"reason": "mined again"}),
        event(3, "ready", "detected", 5, data={"reason": "mined again for another author"}),
    ]
    assert verdicts(events) == [("chain", "orphaned"), ("chain", "mined again"), ("chain", "mined again")]


def test_a_claim_tells_how_long_it_waited_and_worked() -> None:
    claimed = NOON + timedelta(seconds=5)
    events = [event(1, None, "detected", 0), event(8, "pinning", "ready", 2, claimed_at=claimed)]
    _, pinned = told(events, [], {"metadata_cid": "bafymeta", "image_cid": "bafyimage"}).entries
    assert pinned == Entry(
        claimed, "pinning", 1, "done", "bafymeta · picture bafyimage", waited_s=4.0, worked_s=3.0, worker="w"
    )


def test_a_worker_that_died_is_named_not_the_one_who_found_it() -> None:
    lost = event(8, "pinning", "uploading", 2, claimed_at=NOON, data={"error": None, "lost_by": "dead"})
    (entry,) = told([lost], []).entries
    assert (entry.verdict, entry.worker) == ("lost", "dead")
