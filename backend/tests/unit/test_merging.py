"""What counts when several logs tell of one token."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from glisk.chain.merging import merged
from glisk.chain.mint import BATCH_MINTED, CONSECUTIVE, TRANSFER, Mint

ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20


def a_mint(kind: str, log_index: int, first: int, quantity: int = 1, *, block: int = 1, tx: int = 1) -> Mint:
    author = BOB if kind == BATCH_MINTED else ALICE
    return Mint(kind, block, bytes([block]) * 32, bytes([tx]) * 32, log_index, first, quantity, ALICE, author)


some_mints = st.lists(
    st.builds(
        lambda kind, log_index, first, quantity, block, tx: a_mint(
            kind, log_index, first, 1 if kind == TRANSFER else quantity, block=block, tx=tx
        ),
        st.sampled_from([TRANSFER, BATCH_MINTED, CONSECUTIVE]),
        st.integers(0, 8),
        st.integers(0, 8),
        st.integers(1, 4),
        st.integers(0, 1),
        st.integers(0, 1),
    ),
    max_size=12,
)


def test_a_batch_knows_more_than_the_transfers_of_its_tokens() -> None:
    batch = a_mint(BATCH_MINTED, 3, 7, 3)
    assert merged([a_mint(TRANSFER, 0, 7), a_mint(TRANSFER, 1, 8), a_mint(TRANSFER, 2, 9), batch]) == [batch]


def test_a_transfer_of_a_token_that_no_batch_tells_of_stays() -> None:
    mints = [a_mint(TRANSFER, 0, 6), a_mint(BATCH_MINTED, 1, 7, 3), a_mint(TRANSFER, 2, 10)]
    assert merged(mints) == mints


def test_a_batch_says_nothing_about_another_transaction() -> None:
    mints = [a_mint(TRANSFER, 0, 7), a_mint(BATCH_MINTED, 1, 7, tx=2), a_mint(BATCH_MINTED, 0, 7, block=2)]
    assert merged(mints) == mints


def test_a_range_of_several_batches_counts_as_they_do() -> None:
    batches = [a_mint(BATCH_MINTED, 1, 7, 3), a_mint(BATCH_MINTED, 2, 10, 3)]
    assert merged([a_mint(CONSECUTIVE, 0, 7, 6), *batches]) == batches


def test_a_log_that_comes_twice_counts_once() -> None:
    mint = a_mint(TRANSFER, 0, 7)
    assert merged([mint, mint]) == [mint]


@given(some_mints)
def test_it_is_what_the_rules_say(mints: list[Mint]) -> None:
    assert merged(mints) == by_the_rules(mints)


@given(some_mints)
def test_no_token_is_lost_and_what_is_left_is_in_order(mints: list[Mint]) -> None:
    once = {(mint.block_hash, mint.log_index): mint for mint in reversed(mints)}.values()
    left = merged(mints)
    assert {place for mint in left for place in tokens(mint)} == {place for mint in once for place in tokens(mint)}
    assert all((a.block_number, a.log_index) < (b.block_number, b.log_index) for a, b in pairwise(left))


def test_ten_thousand_logs_of_one_transaction_take_no_time() -> None:
    batches = [a_mint(BATCH_MINTED, number, 4 * number, 3) for number in range(10_000)]
    transfers = [a_mint(TRANSFER, 10_000 + number, 4 * number) for number in range(10_000)]
    started = time.process_time()
    assert len(merged(transfers + batches)) == 10_000
    assert time.process_time() - started < 2  # 10,000 times 10,000 would be many minutes


def by_the_rules(mints: list[Mint]) -> list[Mint]:
    once: list[Mint] = []
    for mint in mints:
        if all((mint.block_hash, mint.log_index) != (other.block_hash, other.log_index) for other in once):
            once.append(mint)
    batched = {place for mint in once if mint.kind == BATCH_MINTED for place in tokens(mint)}
    ranged = {place for mint in once if mint.kind != TRANSFER for place in tokens(mint)}
    told = {BATCH_MINTED: set(), CONSECUTIVE: batched, TRANSFER: ranged}
    kept = [mint for mint in once if mint.kind == BATCH_MINTED or not tokens(mint) <= told[mint.kind]]
    return sorted(kept, key=lambda mint: (mint.block_number, mint.log_index))


def tokens(mint: Mint) -> set[tuple[bytes, bytes, int]]:
    ids = range(mint.first_token_id, mint.first_token_id + mint.quantity)
    return {(mint.block_hash, mint.tx_hash, token) for token in ids}
