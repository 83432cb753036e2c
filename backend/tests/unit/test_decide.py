"""The state machine, driven with everything it could meet."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from glisk.engine.decide import (
    ERROR_LIMIT,
    LONGEST_DELAY,
    Done,
    Fail,
    Hold,
    Retry,
    Review,
    Row,
    Transition,
    Verdict,
    Wait,
    decide,
    storable,
)
from glisk.engine.options import own_backoff
from glisk.engine.workflow import Workflow
from glisk.workflows import TOKEN, WORKFLOWS

texts = st.text(st.characters(), max_size=1200)
verdicts: st.SearchStrategy[Verdict] = st.one_of(
    st.builds(Done),
    st.builds(Fail, texts),
    st.builds(Retry, texts, category=st.just("network"), after=st.none() | st.timedeltas()),
    st.builds(Wait, st.timedeltas(), st.none() | texts),
    st.builds(Hold, texts),
    st.builds(Review, texts),
)
flows = st.sampled_from(sorted(WORKFLOWS.values(), key=lambda flow: flow.name))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Workflow, Row]:
    """Any row of any workflow."""
    flow = draw(flows)
    waiting = draw(st.sampled_from(sorted(flow.steps)))
    count, spent = draw(st.integers(0, 1000)), draw(st.integers(0, 3))
    most = draw(st.none() | st.integers(1, 10)) if flow.table.edges else None  # tokens have no such column
    return flow, Row(
        1,
        draw(st.integers(0)),
        flow.active(waiting),
        waiting,
        count,
        spent,
        draw(st.sampled_from((0, spent + 1))),
        most,
    )


jitters = st.floats(0, 1)


def a_row(waiting: str = "detected", retry_count: int = 0, spent: int = 0) -> Row:
    return Row(1, 1, TOKEN.active(waiting), waiting, retry_count, spent)


@given(cases(), verdicts, jitters)
def test_every_verdict_leads_to_a_known_status(case: tuple[Workflow, Row], verdict: Verdict, jitter: float) -> None:
    flow, row = case
    to = decide(flow, row, verdict, jitter=jitter)
    assert to.status in {flow.steps[row.waiting].success, row.waiting, flow.failure(row.waiting), "failed", "review"}
    assert to.is_final == (to.status in flow.finals)


@given(cases(), verdicts, jitters)
def test_counts_and_delays_are_bounded(case: tuple[Workflow, Row], verdict: Verdict, jitter: float) -> None:
    to = decide(*case, verdict, jitter=jitter)
    assert 0 <= to.retry_count <= 1000
    assert to.delay is None or timedelta() <= to.delay <= LONGEST_DELAY
    assert 0 <= to.facts.get("generation_attempts", 0) <= 3


@given(cases(), verdicts)
def test_a_failed_row_always_says_why(case: tuple[Workflow, Row], verdict: Verdict) -> None:
    to = decide(*case, verdict)
    assert not to.status.endswith("failed") or to.facts[case[0].table.error]


@given(cases(), st.builds(Wait) | st.builds(Hold, texts))
def test_waiting_and_holding_use_no_attempt(case: tuple[Workflow, Row], verdict: Verdict) -> None:
    flow, row = case
    to = decide(flow, row, verdict)
    assert (to.status, to.retry_count, to.is_final) == (row.waiting, row.retry_count, False)
    assert to.facts.get("generation_attempts", 0) in (0, 2), "only what used its last attempt gets one back"


@given(cases(), st.builds(Retry, texts), jitters)
def test_an_uncounted_failure_adds_nothing(case: tuple[Workflow, Row], verdict: Retry, jitter: float) -> None:
    flow, row = case
    step = dataclasses.replace(flow.steps[row.waiting], count_failure=False, attempts=None)
    uncounted = dataclasses.replace(flow, steps={**flow.steps, row.waiting: step})
    to = decide(uncounted, row, verdict, jitter=jitter)
    assert to.retry_count == row.retry_count
    assert set(to.facts) == {flow.table.error}
    if row.retry_count == 0:
        assert to.status == uncounted.failure(row.waiting), "what is not counted cannot be the last"


@given(cases(), st.data())
def test_every_path_ends_unless_it_is_told_to_wait(case: tuple[Workflow, Row], data: st.DataObject) -> None:
    """Where a step has a budget, failures alone cannot go on for ever."""
    flow, row = case
    most = row.max_attempts or flow.steps[row.waiting].max_attempts
    row = replace(row, retry_count=0, spent=0)
    for _ in range(most or 0):
        to = decide(flow, row, data.draw(st.builds(Retry, texts)))
        if to.is_final:
            return
        row = replace(row, retry_count=to.retry_count, spent=to.facts.get(flow.table.budget, 0))
    assert most is None or not flow.steps[row.waiting].count_failure


@given(st.lists(st.builds(Retry, texts), min_size=3, max_size=3))
def test_three_transient_failures_end_a_drawing(failures: list[Verdict]) -> None:
    row, ends = a_row(), []
    for failure in failures:
        to = decide(TOKEN, row, failure)
        ends.append(to.status)
        row = a_row(retry_count=to.retry_count, spent=to.facts["generation_attempts"])
    assert ends == ["detected", "detected", "failed"]


def test_success_clears_the_error_and_the_failures() -> None:
    to = decide(TOKEN, a_row(retry_count=2, spent=2), Done({"image_url": "https://x.test/1.png"}))
    assert to == Transition(
        "uploading", is_final=False, facts={"image_url": "https://x.test/1.png", "generation_error": None}
    )


def test_the_last_attempt_names_the_kind_of_error_and_the_error() -> None:
    to = decide(TOKEN, a_row(retry_count=2, spent=2), Retry("429 Too Many Requests", category="rate limit"))
    assert to.facts["generation_error"] == "Max retries exceeded after rate limit errors: 429 Too Many Requests"


def test_pinning_never_gives_up() -> None:
    to = decide(TOKEN, a_row("uploading", retry_count=1000), Retry("gateway timeout"), jitter=1.0)
    assert to == Transition(
        "uploading", False, 1000, timedelta(minutes=10), facts={"generation_error": "gateway timeout"}
    )


def test_rests_double_and_an_asked_for_rest_is_kept() -> None:
    def rest(failures: int) -> timedelta | None:
        return decide(TOKEN, a_row("uploading", failures), Retry("no")).delay

    assert [rest(n) for n in range(3)] == [timedelta(seconds=2), timedelta(seconds=4), timedelta(seconds=8)]
    assert decide(TOKEN, a_row(), Retry("no", after=timedelta(seconds=7))).delay == timedelta(seconds=7)


@given(texts)
def test_an_error_is_stored_as_postgresql_can_hold_it(error: str) -> None:
    stored = storable(error)
    assert 1 <= len(stored) <= ERROR_LIMIT
    assert "\0" not in stored
    stored.encode()


@pytest.mark.parametrize(("error", "stored"), [("Ж" * 1001, "Ж" * 1000), ("", "unknown error"), ("a\0b", "a\ufffdb")])
def test_errors_are_cut_by_characters_and_never_empty(error: str, stored: str) -> None:
    assert storable(error) == stored


@pytest.mark.parametrize(
    "opts", ["", "[]", "null", "{", '{"backoff": 7}', '{"backoff": {"delay": -1}}', '{"attempts": "x"}']
)
def test_options_that_somebody_wrote_by_hand_harm_nobody(opts: str) -> None:
    assert own_backoff(opts) is None


@given(st.integers(0, 10**9), st.sampled_from(["fixed", "exponential"]), st.integers(1, 1000), jitters)
def test_a_rest_of_ones_own_is_bounded(delay: int, type: str, failures: int, jitter: float) -> None:
    backoff = own_backoff(f'{{"backoff": {{"delay": {delay}, "type": "{type}"}}}}')
    assert backoff is not None
    first = timedelta(milliseconds=delay)
    assert first <= backoff.after(failures, jitter) <= (first if type == "fixed" else max(first, timedelta(days=365)))


@pytest.mark.parametrize("verdict", [Wait(), Hold("no credit")])
def test_what_used_its_last_attempt_and_must_wait_gets_one_claim_more(verdict: Verdict) -> None:
    """Attempts went to 3 before the fallback call, which was then told to come back later."""
    row = Row(1, 1, "generating", "detected", spent=2, used=3)
    to = decide(TOKEN, row, verdict)
    assert (to.status, to.facts["generation_attempts"]) == ("detected", 2)


def test_a_failure_after_the_fallback_was_counted_is_not_counted_again() -> None:
    to = decide(TOKEN, Row(1, 1, "generating", "detected", spent=0, used=1), Retry("reset", "network"))
    assert to.facts["generation_attempts"] == 1


def test_only_a_workflow_that_knows_review_has_it() -> None:
    assert decide(TOKEN, a_row(), Review("it is grey")).status == "review"
    job = Row(1, 1, "generating", "pending")
    assert decide(WORKFLOWS["image_generation"], job, Review("it is grey")).status == "failed"
