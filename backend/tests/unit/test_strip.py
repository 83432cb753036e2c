"""A token's way on one line of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from glisk.repositories.timeline import Entry, Story
from glisk.web.strip import strip

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = st.none() | st.floats(0, 1e6, allow_nan=False)
ENTRIES = st.builds(
    lambda after, step, waited, worked: Entry(
        BEGAN + timedelta(seconds=after), step, 1, "done", "", waited_s=waited, worked_s=worked
    ),
    st.floats(0, 1e6, allow_nan=False),
    st.sampled_from(["generating", "pinning", "revealing"]),
    SECONDS,
    SECONDS,
)


def a_story(entries: list[Entry]) -> Story:
    return Story(entries, Decimal(0), 0, None, None)


@given(st.lists(ENTRIES, max_size=12))
def test_everything_lies_on_the_line(entries: list[Entry]) -> None:
    if (found := strip(a_story(entries))) is None:
        return
    for row in found.rows:
        for part in row.stretches:
            assert 0 <= part.start <= part.start + part.width <= 100.000001


def test_waiting_comes_before_work_and_both_have_their_share() -> None:
    entry = Entry(BEGAN, "generating", 2, "done", "", waited_s=1.0, worked_s=3.0)
    found = strip(a_story([Entry(BEGAN, "minted", None, "", ""), entry]))
    assert found
    (row,) = found.rows
    assert [(part.kind, part.start, part.width) for part in row.stretches] == [("wait", 0, 25), ("work", 25, 75)]
    assert row.stretches[1].text == "generating #2 done, 3.0 s"


def test_a_token_to_which_nothing_was_done_has_no_line() -> None:
    assert strip(a_story([Entry(BEGAN, "minted", None, "", "")])) is None
