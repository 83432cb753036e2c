"""How fast an endpoint is asked: as fast as it bears."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from glisk.chain.rpc.throttle import Rate, Slots
from tests.rpc import Clock


async def sent(rate: Rate, clock: Clock, calls: int, each: int = 1) -> float:
    """How long it took."""
    start = clock.now()
    for _ in range(calls):
        await rate.turn(each, clock.sleep)
    return clock.now() - start


async def test_a_rate_is_kept_after_a_second_in_advance() -> None:
    rate = Rate(10, 1, (clock := Clock()).now)
    assert await sent(rate, clock, 10) == 0
    assert 4.8 < await sent(rate, clock, 50) < 5.1


async def test_a_batch_counts_as_its_calls() -> None:
    rate = Rate(10, 1, (clock := Clock()).now)
    assert 6.9 < await sent(rate, clock, 5, each=20) < 7.1


async def test_what_was_not_used_is_not_saved_for_longer_than_a_second() -> None:
    rate = Rate(10, 1, (clock := Clock()).now)
    clock.time += 1000
    assert 0.8 < await sent(rate, clock, 20) < 1.1


def test_a_rate_is_halved_once_for_what_was_sent_before() -> None:
    rate = Rate(500, 2, (clock := Clock()).now)
    for _ in range(100):
        rate.rest_before(1)
    for _ in range(8):
        rate.slow_down(clock.now())
    assert rate.value == 50
    clock.time += 0.1
    rate.slow_down(clock.now())
    assert rate.value == 25


@given(st.lists(st.booleans(), max_size=200))
def test_a_rate_stays_between_its_limits_and_comes_back(steps: list[bool]) -> None:
    rate = Rate(500, 2, (clock := Clock()).now)
    for went_well in steps:
        clock.time += 6
        rate.went_well() if went_well else rate.slow_down(clock.now())
        assert 2 <= rate.value <= 500
    for _ in range(100):
        clock.time += 6
        rate.went_well()
    assert rate.value == 500


def test_a_rate_grows_slowly() -> None:
    rate = Rate(500, 2, (clock := Clock()).now)
    rate.slow_down(clock.now())
    before = rate.value
    for _ in range(100):
        rate.went_well()
    assert rate.value == before
    clock.time += 5
    rate.went_well()
    assert before < rate.value < before * 1.2


@given(st.lists(st.booleans(), max_size=200))
def test_there_is_always_a_place_and_never_more_than_allowed(steps: list[bool]) -> None:
    slots = Slots(16, (clock := Clock()).now)
    for went_well in steps:
        clock.time += 1
        slots.went_well() if went_well else slots.slow_down(clock.now())
        assert 1 <= int(slots.cap) <= 16
    for _ in range(300):
        slots.went_well()
    assert slots.cap == 16


async def test_whoever_waits_for_a_place_gets_it_in_turn() -> None:
    slots, order = Slots(1, Clock().now), list[int]()

    async def hold(number: int) -> None:
        async with slots.one():
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*(hold(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert slots.busy == 0


async def test_a_place_given_to_somebody_who_leaves_goes_to_the_next() -> None:
    slots = Slots(1, Clock().now)
    await slots.taken()
    leaving, waiting = asyncio.create_task(slots.taken()), asyncio.create_task(slots.taken())
    await asyncio.sleep(0)
    slots.busy -= 1
    slots.pass_on()  # to the one who is leaving
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    await asyncio.wait_for(waiting, 5)
    assert slots.busy == 1
