"""How many processes: within the bounds, more for more work, and without flapping."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from glisk.workers.scaling import Load, Size, Steadied, StepLoad, total, wanted

rows = st.integers(0, 10_000)
bounds = st.tuples(st.integers(1, 20), st.integers(0, 20)).map(lambda pair: Size(pair[0], pair[0] + pair[1]))
rooms = st.integers(1, 500)


def asked(ready: int, live: int, size: Size, per_process: int) -> int:
    return wanted(ready, live, size.minimum, size.maximum, per_process)


@given(rows, rows, bounds, rooms)
def test_it_stays_within_the_bounds(ready: int, live: int, size: Size, per_process: int) -> None:
    assert size.minimum <= asked(ready, live, size, per_process) <= size.maximum


@given(rows, rows, rows, bounds, rooms)
def test_more_work_never_asks_for_fewer(ready: int, more: int, live: int, size: Size, per_process: int) -> None:
    before = asked(ready, live, size, per_process)
    assert asked(ready + more, live, size, per_process) >= before
    assert asked(ready, live + more, size, per_process) >= before


@given(rows, rows, bounds, rooms)
def test_there_is_room_for_everything_and_not_a_process_more(
    ready: int, live: int, size: Size, per_process: int
) -> None:
    n = asked(ready, live, size, per_process)
    assert n == size.maximum or n * per_process >= ready + live
    assert n == size.minimum or (n - 1) * per_process < ready + live


@given(st.lists(st.integers(1, 20), min_size=1), st.integers(1, 10))
def test_it_grows_at_once_and_shrinks_only_after_a_quiet_while(wishes: list[int], looks: int) -> None:
    steadied, before = Steadied(looks), 0
    for n, wish in enumerate(wishes):
        now = steadied.after(wish)
        assert now >= wish
        if now < before:
            assert all(recent <= now for recent in wishes[max(0, n + 1 - looks) : n + 1])
            assert n + 1 >= looks
        before = now


@given(st.lists(st.sampled_from([1, 20]), min_size=20, max_size=60))
def test_a_load_that_comes_and_goes_within_the_quiet_while_changes_nothing(wishes: list[int]) -> None:
    steadied = Steadied(10)
    steadied.after(20)
    seen = {steadied.after(20 if n % 10 == 9 else wish) for n, wish in enumerate(wishes)}
    assert seen == {20}


def test_a_lane_asks_for_no_more_than_it_takes() -> None:
    steps = [StepLoad(1000, 5, "replicate"), StepLoad(1000, 0, "replicate"), StepLoad(7, 1)]
    assert total(steps, {"replicate": 4}) == Load(ready=11, live=6)
    assert total(steps, {"replicate": 0}) == Load(ready=7, live=6)  # held: nothing of it can be worked on
    assert total(steps, {}) == Load(ready=7, live=6)  # missing: as good as closed


def test_a_size_says_itself() -> None:
    assert [str(size) for size in (Size(), Size(2, 2), Size(1, 4))] == [
        "one worker process",
        "2 worker processes",
        "1 to 4 worker processes",
    ]
