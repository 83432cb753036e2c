"""Whether the ids of mints are whole, whatever order they came in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from glisk.chain.mint import BATCH_MINTED, Mint
from glisk.chain.sequence import is_whole, reaches


def mint(first: int, quantity: int) -> Mint:
    return Mint(BATCH_MINTED, 1, bytes(32), bytes(32), 0, first, quantity, "0x", "0x")


BATCHES = st.lists(st.builds(mint, st.integers(0, 30), st.integers(1, 5)), max_size=12)


@given(BATCHES, st.integers(0, 10))
def test_it_reaches_the_first_id_that_nobody_minted(mints: list[Mint], first: int) -> None:
    ids = {one.first_token_id + n for one in mints for n in range(one.quantity)}
    assert reaches(first, mints) == next(id for id in range(first, 100) if id not in ids)


@given(BATCHES, st.integers(0, 10), st.integers(0, 40))
def test_it_is_whole_when_every_id_up_to_what_the_contract_says_is_there(
    mints: list[Mint], first: int, next_id: int
) -> None:
    ids = {one.first_token_id + n for one in mints for n in range(one.quantity)}
    assert is_whole(first, mints, next_id) == (set(range(first, next_id)) <= ids)


@given(BATCHES, st.integers(0, 10))
def test_where_the_contract_does_not_say_only_holes_count(mints: list[Mint], first: int) -> None:
    ids = {one.first_token_id + n for one in mints for n in range(one.quantity)}
    last = max(ids, default=first - 1)
    assert is_whole(first, mints, None) == (set(range(first, last + 1)) <= ids)
