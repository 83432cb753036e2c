"""When an endpoint is left out, and when it may come back."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from glisk.chain.rpc.condition import Condition
from glisk.chain.rpc.limits import Limits
from tests.rpc import Clock


def a_condition(clock: Clock, jitter: float = 1.0) -> Condition:
    return Condition(Limits(), clock.now, lambda: jitter)


def test_each_fault_keeps_it_out_for_longer_up_to_a_limit() -> None:
    condition, rests = a_condition(clock := Clock()), []
    for _ in range(9):
        condition.rest("it is gone")
        rests.append(condition.back_at - clock.now())
        clock.time = condition.back_at
    assert rests == [0.25, 0.5, 1, 2, 4, 8, 15, 15, 15]


def test_faults_at_the_same_time_are_one() -> None:
    condition = a_condition(clock := Clock())
    for _ in range(5):
        condition.rest("it is gone")
    assert condition.back_at - clock.now() == 0.25


@given(st.floats(0, 1), st.integers(1, 40))
def test_rests_are_drawn_so_that_not_all_come_back_together(jitter: float, faults: int) -> None:
    condition = a_condition(clock := Clock(), jitter)
    for _ in range(faults):
        clock.time = max(clock.time, condition.back_at)
        condition.rest("it is gone")
    whole = min(0.25 * 2 ** (faults - 1), 15)
    assert whole / 2 <= condition.back_at - clock.now() + 1e-6
    assert condition.back_at - clock.now() <= whole + 1e-6


def test_after_a_fault_only_a_probe_lets_it_in() -> None:
    condition = a_condition(clock := Clock())
    condition.was_seen()
    condition.rest("it is gone")
    clock.time += 1
    assert (condition.is_up, condition.is_fresh, condition.is_out) == (True, False, True)
    condition.was_seen()
    assert (condition.is_up, condition.is_fresh, condition.is_out) == (True, True, False)


def test_a_wish_to_be_left_alone_is_no_fault() -> None:
    condition = a_condition(clock := Clock())
    condition.was_seen()
    condition.cool("too many requests", timedelta(seconds=5), clock.now())
    assert (condition.is_up, condition.is_fresh, condition.is_out) == (False, True, False)
    clock.time += 5
    assert (condition.is_up, condition.is_fresh, condition.is_out) == (True, True, False)


def test_who_does_not_say_how_long_is_left_alone_for_longer_each_time() -> None:
    condition, rests = a_condition(clock := Clock()), []
    for _ in range(8):
        condition.cool("too many requests", None, clock.now())
        rests.append(condition.back_at - clock.now())
        clock.time = condition.back_at
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]


def test_what_was_sent_together_is_one_wish() -> None:
    condition = a_condition(clock := Clock())
    for _ in range(5):
        condition.cool("too many requests", None, clock.now())
    assert condition.back_at - clock.now() == 1


def test_a_head_a_little_behind_is_no_reason() -> None:
    first, second = a_condition(clock := Clock()), a_condition(clock)
    second.showed(1025, clock.now(), [first])
    first.showed(1000, clock.now(), [second])
    assert not first.is_passed_over
    second.showed(1026, clock.now(), [first])
    first.showed(1000, clock.now(), [second])
    assert first.is_behind


def test_one_that_was_not_asked_is_not_behind() -> None:
    first, second = a_condition(clock := Clock()), a_condition(clock)
    second.showed(1000, clock.now(), [first])
    clock.time += 1000
    first.showed(1500, clock.now(), [second])
    assert not second.is_passed_over


def test_a_head_that_stands_still_while_others_go_on_is_passed_over() -> None:
    first, second = a_condition(clock := Clock()), a_condition(clock)
    for number in range(62):
        clock.time += 1
        second.showed(1000 + number // 10, clock.now(), [first])
        first.showed(1000, clock.now(), [second])
    assert first.is_stalled
    assert not first.is_behind
    first.showed(1001, clock.now(), [second])
    assert not first.is_passed_over


def test_a_chain_that_stands_still_is_nobodys_fault() -> None:
    first, second = a_condition(clock := Clock()), a_condition(clock)
    for _ in range(200):
        clock.time += 1
        second.showed(1000, clock.now(), [first])
        first.showed(1000, clock.now(), [second])
    assert not first.is_passed_over
    assert not second.is_passed_over


def test_a_head_that_goes_back_and_forth_is_no_progress() -> None:
    first, second = a_condition(clock := Clock()), a_condition(clock)
    for number in range(100):
        clock.time += 1
        second.showed(1000 + number // 10, clock.now(), [first])
        first.showed(1000 - number % 2, clock.now(), [second])
    assert first.is_stalled
    assert first.head == 1000


def test_one_that_lied_once_does_not_rule_for_ever() -> None:
    honest, liar = a_condition(clock := Clock()), a_condition(clock)
    liar.showed(10**9, clock.now(), [honest])
    honest.showed(1000, clock.now(), [liar])
    assert honest.is_behind
    for number in range(70):
        clock.time += 1
        honest.showed(1000 + number, clock.now(), [liar])
        liar.showed(1000 + number, clock.now(), [honest])
    assert not honest.is_passed_over
