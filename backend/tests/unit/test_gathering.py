"""Callers come one by one and are dealt with together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from glisk.chain.sending.gathering import Gathering

LONG = 3600.0


class Act:
    """Doubles numbers, when it is let; keeps the groups it was given."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.may = asyncio.Event()
        self.may.set()
        self.has_begun = asyncio.Event()

    async def __call__(self, items: Sequence[int]) -> list[int]:
        self.groups.append(list(items))
        self.has_begun.set()
        await self.may.wait()
        return [2 * item for item in items]


async def all_in_line() -> None:
    """Everybody who was called has called."""
    await asyncio.sleep(0)


async def test_a_full_group_goes_at_once() -> None:
    gather = Gathering(act := Act(), 3, LONG)
    assert await asyncio.gather(*(gather(n) for n in (1, 2, 3))) == [2, 4, 6]
    assert act.groups == [[1, 2, 3]]
    assert gather.timer is None


async def test_more_than_a_group_make_several_and_the_rest_waits_for_its_turn() -> None:
    gather = Gathering(act := Act(), 2, 0.01)
    assert await asyncio.gather(*(gather(n) for n in range(5))) == [0, 2, 4, 6, 8]
    assert act.groups == [[0, 1], [2, 3], [4]]


async def test_a_group_that_is_not_full_goes_after_a_while() -> None:
    gather = Gathering(act := Act(), 50, 0.01)
    assert await gather(1) == 2
    assert act.groups == [[1]]


async def test_the_next_group_forms_while_one_is_on_its_way() -> None:
    gather = Gathering(act := Act(), 2, LONG)
    act.may.clear()
    calls = [asyncio.create_task(gather(n)) for n in range(4)]
    await act.has_begun.wait()
    await all_in_line()
    assert act.groups == [[0, 1], [2, 3]]
    act.may.set()
    assert await asyncio.gather(*calls) == [0, 2, 4, 6]


async def test_who_leaves_before_it_goes_is_left_out() -> None:
    gather = Gathering(act := Act(), 3, LONG)
    left = asyncio.create_task(gather(1))
    await all_in_line()
    left.cancel()
    await asyncio.wait([left])
    calls = [asyncio.create_task(gather(n)) for n in (2, 3)]
    await asyncio.gather(*calls)
    assert act.groups == [[2, 3]]


async def test_if_all_have_left_nothing_is_done() -> None:
    gather = Gathering(act := Act(), 3, LONG)
    left = asyncio.create_task(gather(1))
    await all_in_line()
    left.cancel()
    await asyncio.wait([left])
    gather.go()
    assert (act.groups, gather.acting) == ([], set())


async def test_who_leaves_on_the_way_takes_nobody_along() -> None:
    gather = Gathering(act := Act(), 2, LONG)
    act.may.clear()
    left, stays = (asyncio.create_task(gather(n)) for n in (1, 2))
    await act.has_begun.wait()
    left.cancel()
    act.may.set()
    assert await stays == 4
    assert left.cancelled()


async def test_when_all_leave_on_the_way_it_is_broken_off() -> None:
    gather = Gathering(act := Act(), 2, LONG)
    act.may.clear()
    calls = [asyncio.create_task(gather(n)) for n in (1, 2)]
    await act.has_begun.wait()
    (acting,) = gather.acting
    for call in calls:
        call.cancel()
    await asyncio.wait([acting])
    assert acting.cancelled()
    assert gather.acting == set()


async def test_an_error_reaches_everybody() -> None:
    async def break_down(items: Sequence[int]) -> list[int]:
        raise ValueError(f"not these {len(items)}")

    gather = Gathering(break_down, 3, LONG)
    found = await asyncio.gather(*(gather(n) for n in range(3)), return_exceptions=True)
    assert [str(error) for error in found] == ["not these 3"] * 3


async def test_an_answer_that_leaves_somebody_out_is_an_error_for_all() -> None:
    async def forget(items: Sequence[int]) -> list[int]:
        return list(items[1:])

    gather = Gathering(forget, 2, LONG)
    found = await asyncio.gather(*(gather(n) for n in range(2)), return_exceptions=True)
    assert all(isinstance(error, ValueError) for error in found)


async def test_closing_ends_what_is_on_its_way_and_leaves_nobody_waiting() -> None:
    gather = Gathering(act := Act(), 2, LONG)
    act.may.clear()
    calls = [asyncio.create_task(gather(n)) for n in range(3)]
    await act.has_begun.wait()
    await gather.close()
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(each, asyncio.CancelledError) for each in found)
    assert gather.timer is None


async def test_closing_what_nobody_has_called_does_nothing() -> None:
    await Gathering(Act(), 2, LONG).close()


@pytest.mark.parametrize("most", [1, 2, 7])
async def test_every_caller_gets_its_own_answer(most: int) -> None:
    gather = Gathering(act := Act(), most, 0.001)
    assert await asyncio.gather(*(gather(n) for n in range(40))) == [2 * n for n in range(40)]
    assert max(map(len, act.groups)) <= most
