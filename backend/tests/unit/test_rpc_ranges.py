"""How many blocks are asked for at once: never none, never more than goes, and again as many as before when they are sparse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.chain.rpc.call import Call, RangeTooWide
from glisk.chain.rpc.ranges import Cap, OneBlockTooBig, Span, width_of

MOST = 10_000
widths = st.integers(1, 20_000)
troubles = st.builds(RangeTooWide, st.just("too wide"), st.none() | st.integers(0, 30_000), is_plan=st.booleans())
steps = st.lists(st.tuples(st.none() | troubles, st.integers(0, 3)))


def walked(span: Span, steps: list[tuple[RangeTooWide | None, int]], cap: int | None) -> Span:
    """Several are under way at once, so that some were asked for at an earlier width."""
    asked = [span.next(cap)]
    for trouble, ago in steps:
        width = asked[max(0, len(asked) - 1 - ago)]
        if trouble is None:
            span = span.after_success(width)
        elif width > 1:
            span = span.after(trouble, width)
        asked.append(span.next(cap))
        assert 1 <= asked[-1] <= min(MOST, cap or MOST)
    return span


@given(widths, steps, st.none() | st.integers(1, 20_000))
def test_a_width_is_never_none_and_never_above_its_cap(
    width: int, steps: list[tuple[RangeTooWide | None, int]], cap: int | None
) -> None:
    walked(Span(width, MOST), steps, cap)


@given(widths, steps, st.integers(1, MOST))
def test_after_whatever_happened_it_finds_what_goes_and_keeps_near_it(
    width: int, steps: list[tuple[RangeTooWide | None, int]], fits: int
) -> None:
    span = walked(Span(width, MOST), steps, None)
    for _ in range(60):
        asked = span.next()
        span = (
            span.after_success(asked) if asked <= fits else span.after(RangeTooWide("more than 10000 results"), asked)
        )
    went = []
    for _ in range(30):
        asked = span.next()
        went.append(asked if asked <= fits else 0)
        span = (
            span.after_success(asked) if asked <= fits else span.after(RangeTooWide("more than 10000 results"), asked)
        )
    assert max(went) > fits // 2
    assert went.count(0) <= 7


@given(widths, steps, st.integers(1, 20_000))
def test_after_a_dense_stretch_it_reaches_the_cap_again(
    width: int, steps: list[tuple[RangeTooWide | None, int]], cap: int
) -> None:
    span = walked(Span(width, MOST), steps, cap)
    for _ in range(200):
        span = span.after_success(span.next(cap))
        if span.next(cap) == min(cap, MOST):
            return
    pytest.fail(f"it stays at {span}")


@given(st.integers(2, 20_000), troubles)
def test_trouble_shrinks_at_once_and_always(asked: int, trouble: RangeTooWide) -> None:
    assert Span(asked, 20_000).after(trouble, asked).next() < asked


def test_many_that_fail_together_shrink_it_once() -> None:
    span = Span(1000)
    for _ in range(8):
        span = span.after(RangeTooWide("more than 10000 results"), 1000)
    assert span.next() == 500


def test_many_that_go_well_together_grow_it_once() -> None:
    span = Span(1000)
    for _ in range(8):
        span = span.after_success(1000)
    assert span.next() == 1500


def test_the_endpoints_number_is_taken() -> None:
    assert Span(1000).after(RangeTooWide("try this range", 128), 1000).next() == 128


def test_the_endpoints_number_is_not_taken_if_it_was_just_refused() -> None:
    assert Span(1000).after(RangeTooWide("retry with the range you asked for", 1000), 1000).next() == 500


def test_where_it_failed_it_is_approached_slowly() -> None:
    span = Span(1000).after(RangeTooWide("more than 10000 results"), 1000)
    assert (span := span.after_success(500)).next() == 750
    for _ in range(3):
        assert (span := span.after_success(750)).next() == 750
    assert span.after_success(750).next() == 843


def test_one_block_that_is_too_big_is_told() -> None:
    with pytest.raises(OneBlockTooBig, match="response too large"):
        Span(1).after(RangeTooWide("response too large"), 1)


@given(st.integers(1, MOST), st.booleans(), widths)
def test_a_plans_limit_is_found_out_whether_it_is_said_or_not(limit: int, is_said: bool, width: int) -> None:
    cap, span, refused = Cap(), Span(width, MOST), 0
    for _ in range(100):
        asked = span.next(cap.most)
        if asked <= limit:
            cap, span = cap.after_success(asked), span.after_success(asked)
        else:
            refused += 1
            trouble = RangeTooWide("too wide", limit if is_said else None, is_plan=True)
            cap, span = cap.after(trouble, asked), span.after(trouble, asked)
    asked = span.next(cap.most)
    assert limit * 7 // 8 <= asked <= limit
    assert refused <= (1 if is_said else 15)


def test_dense_blocks_are_no_limit_of_the_plan() -> None:
    assert Cap().after(RangeTooWide("more than 10000 results", 128), 1000).most is None


def test_a_limit_that_lets_more_pass_is_no_longer_believed() -> None:
    cap = Cap().after(RangeTooWide("too wide", 10, is_plan=True), 100)
    assert cap.most == 10
    assert cap.after_success(100).most is None


def test_a_limit_above_what_was_refused_is_not_believed() -> None:
    cap = Cap().after(RangeTooWide("ranges over 10000 blocks", 10_000, is_plan=True), 1000)
    assert cap.most == 500


def test_what_was_guessed_is_forgotten_and_what_was_said_is_not() -> None:
    assert Cap().after(RangeTooWide("too wide", None, is_plan=True), 1000).forgotten().most is None
    assert Cap().after(RangeTooWide("too wide", 10, is_plan=True), 1000).forgotten().most == 10


def test_the_width_of_a_question_is_that_of_its_widest_range() -> None:
    def logs(**terms: str) -> Call[None]:
        return Call("eth_getLogs", [terms], lambda _: None)

    assert width_of([Call("eth_chainId", [], lambda _: None)]) == 0
    assert width_of([logs(blockHash="0x12")]) == 1
    assert width_of([logs(fromBlock="0x1", toBlock="0xa"), logs(fromBlock="0x1", toBlock="0x2")]) == 10
