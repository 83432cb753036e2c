"""What is offered for gas: enough, never more than may be paid, and always more than before."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glisk.chain.sending.fees import GWEI, Fees, Market, gwei, offered, raised
from glisk.errors import FeeTooHigh

WEI = st.integers(0, 2**90)
MARKETS = st.builds(Market, WEI, WEI)


@st.composite
def offers(draw: st.DrawFn) -> Fees:
    most = draw(WEI)
    return Fees(most, draw(st.integers(0, most)))


@given(MARKETS, WEI)
def test_an_offer_is_within_the_limit_and_enough_for_the_next_block(market: Market, limit: int) -> None:
    assume(market.price <= limit)
    found = offered(market, limit)
    assert market.price <= found.most <= limit
    assert found.tip == market.tip


@given(MARKETS, WEI)
def test_what_costs_more_than_may_be_paid_is_not_offered(market: Market, limit: int) -> None:
    assume(market.price > limit)
    with pytest.raises(FeeTooHigh, match="at most"):
        offered(market, limit)


def test_an_offer_bears_six_full_blocks_in_a_row() -> None:
    market = Market(base=10 * GWEI, tip=GWEI)
    base = market.base
    for _ in range(5):
        base += base // 8
    assert base + market.tip <= offered(market, 1000 * GWEI).most


@given(offers(), MARKETS, WEI)
def test_what_takes_the_place_of_another_offers_a_tenth_more_of_both_within_the_limit(
    before: Fees, market: Market, limit: int
) -> None:
    if found := raised(before, market, limit):
        assert 10 * found.most >= 11 * before.most
        assert 10 * found.tip >= 11 * before.tip
        assert found.tip > before.tip
        assert found.tip <= found.most <= limit


@given(offers(), MARKETS)
def test_where_anything_may_be_paid_it_is_enough_for_the_next_block(before: Fees, market: Market) -> None:
    found = raised(before, market, 2**200)
    assert found
    assert found.most >= market.price
    assert found.tip >= market.tip


@given(offers(), MARKETS, WEI)
def test_it_is_left_alone_only_if_more_may_not_be_paid(before: Fees, market: Market, limit: int) -> None:
    if raised(before, market, limit) is None:
        assert limit < max(before.most * 9 // 8 + 1, before.tip * 9 // 8 + 1, market.tip)


@given(offers(), MARKETS, WEI)
def test_raising_comes_to_an_end(before: Fees, market: Market, limit: int) -> None:
    steps, offer = 0, before
    while higher := raised(offer, market, limit):
        offer, steps = higher, steps + 1
    assert steps < 700  # 90 bits, an eighth at a time


def test_wei_are_shown_in_gwei() -> None:
    assert (gwei(0), gwei(1_500_000_000), gwei(10**6)) == ("0", "1.5", "0.001")
