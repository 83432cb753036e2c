"""Taking mints over: each becomes a token once, whatever is read twice, replaced, or mined again for somebody else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from glisk.chain import reattaching, taking
from glisk.chain.mint import BATCH_MINTED, TRANSFER, Contract, Mint, Undecodable
from glisk.chain.statements import statement
from glisk.chain.taking import Page, Taken, take
from glisk.engine import control
from glisk.engine.link import Link
from glisk.workflows import TOKENS
from tests.builders import CHAIN, CONTRACT, IMAGE

COLLECTION = Contract(CHAIN, CONTRACT)
ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20


def a_mint(first: int = 1, quantity: int = 1, block: int = 10, fork: int = 0, **fields: Any) -> Mint:
    hash = block.to_bytes(31) + bytes([fork])
    terms = {"kind": BATCH_MINTED, "log_index": first, "minter": ALICE, "author": ALICE, **fields}
    return Mint(block_number=block, block_hash=hash, tx_hash=hash, first_token_id=first, quantity=quantity, **terms)


async def taken(link: Link, *mints: Mint) -> Taken:
    async with link.transaction() as fetch:
        return await take(fetch, COLLECTION, Page(list(mints), []))


async def replaced(link: Link, above: int) -> None:
    await link.fetch(statement("leave"), CHAIN, CONTRACT, above)


async def orphaned(link: Link, last: int) -> int:
    async with link.transaction() as fetch:
        return await reattaching.orphan(fetch, COLLECTION, 0, last, "listener")


async def token(link: Link, id: int) -> Any:
    sql = "SELECT t.*, wallet_address FROM tokens_s0 t JOIN authors USING (author_id) WHERE token_id = $1"
    rows = await link.fetch(sql, id)
    return rows[0]


async def drawn(link: Link, id: int, status: str = "uploading") -> None:
    """As a worker leaves it."""
    sql = "UPDATE tokens_s0 SET status = $2, image_url = $3, image_key = 'k', image_sha256 = $4, image_mime = 'image/png' WHERE token_id = $1"
    await link.fetch(sql, id, status, IMAGE, bytes(32))


async def test_a_batch_becomes_tokens_that_wait_to_be_drawn(link: Link) -> None:
    assert await taken(link, a_mint(1, 3, author=BOB)) == Taken(logs=1, born=3)
    rows = await link.fetch("SELECT token_id::int, status, minter, mint_block FROM tokens_s0 ORDER BY token_id")
    assert [tuple(row) for row in rows] == [(n, "detected", ALICE, 10) for n in (1, 2, 3)]
    assert (await token(link, 2))["wallet_address"] == BOB


async def test_what_was_taken_is_not_taken_again(link: Link) -> None:
    await taken(link, a_mint(1, 3))
    assert await taken(link, a_mint(1, 3)) == Taken()


async def test_each_token_is_told_of_on_the_timeline(link: Link) -> None:
    await taken(link, a_mint(1, 2))
    rows = await link.fetch("SELECT to_status, actor FROM events WHERE item_id IS NOT NULL")
    assert [tuple(row) for row in rows] == [("detected", "listener")] * 2


async def test_the_prompt_is_the_one_its_author_has_at_that_moment(link: Link) -> None:
    await link.fetch("INSERT INTO authors (wallet_address, prompt_text) VALUES ($1, 'a fox')", BOB)
    await taken(link, a_mint(1, author=BOB))
    await link.fetch("UPDATE authors SET prompt_text = 'a wolf'")
    assert (await token(link, 1))["prompt"] == "a fox"


async def test_known_authors_use_up_no_ids(link: Link) -> None:
    for n in range(1, 5):
        await taken(link, a_mint(n, block=n))
    await taken(link, a_mint(5, author=BOB))
    assert [row["author_id"] for row in await link.fetch("SELECT author_id FROM authors ORDER BY 1")] == [1, 2]


async def test_the_largest_token_id_is_taken(link: Link) -> None:
    await taken(link, a_mint(2**256 - 1, log_index=0, kind=TRANSFER))
    assert (await link.fetch("SELECT token_id::text FROM tokens_s0"))[0]["token_id"] == str(2**256 - 1)


async def test_a_log_that_cannot_be_read_is_kept_as_it_came_and_counted_once(link: Link) -> None:
    log = Undecodable(10, bytes(32), bytes(32), 4, "short", msgspec.Raw(b'{"data": "0x"}'))
    for expected in (1, 0):
        async with link.transaction() as fetch:
            assert (await take(fetch, COLLECTION, Page([], [log]))).undecodable == expected
    (row,) = await link.fetch("SELECT kind, problem, raw FROM chain_event")
    assert tuple(row) == ("undecodable", "short", '{"data": "0x"}')


async def test_a_mint_that_left_the_chain_is_orphaned_once_its_place_is_confirmed_without_it(link: Link) -> None:
    await taken(link, a_mint(1))
    await replaced(link, above=9)
    assert (await token(link, 1))["status"] == "detected"  # most are mined again a block later
    assert await orphaned(link, 10) == 1
    assert (await token(link, 1))["status"] == "orphaned"
    assert await orphaned(link, 10) == 0


async def test_an_orphan_is_in_no_workers_way(link: Link) -> None:
    await taken(link, a_mint(1))
    await replaced(link, above=9)
    await orphaned(link, 10)
    assert (await token(link, 1))["finished_at"] is not None


async def test_one_that_is_mined_again_in_time_goes_on_as_if_nothing_had_happened(link: Link) -> None:
    await taken(link, a_mint(1))
    await drawn(link, 1)
    epoch = (await token(link, 1))["epoch"]
    await replaced(link, above=9)
    assert await taken(link, a_mint(1, block=11, fork=1)) == Taken(logs=1, again=1)
    assert await orphaned(link, 11) == 0
    row = await token(link, 1)
    assert (row["status"], row["image_url"], row["mint_block"], row["epoch"]) == ("uploading", IMAGE, 11, epoch)


@pytest.mark.parametrize(
    ("before", "after"), [("detected", "detected"), ("uploading", "uploading"), ("review", "review")]
)
async def test_one_that_is_mined_again_later_keeps_its_picture_and_resumes_where_it_was(
    link: Link, before: str, after: str
) -> None:
    await taken(link, a_mint(1))
    if before != "detected":
        await drawn(link, 1, before)
    await replaced(link, above=9)
    await orphaned(link, 10)
    await taken(link, a_mint(1, block=30, fork=1))
    row = await token(link, 1)
    assert (row["status"], row["image_url"]) == (after, None if before == "detected" else IMAGE)


async def test_one_whose_attempts_were_used_up_has_them_again_when_it_is_mined_again(link: Link) -> None:
    await taken(link, a_mint(1))
    await link.fetch(
        "UPDATE tokens_s0 SET status = 'failed', generation_attempts = 3, generation_error = 'x', finished_at = now()"
    )
    await replaced(link, above=9)
    await orphaned(link, 10)
    await taken(link, a_mint(1, block=30, fork=1))
    row = await token(link, 1)
    assert (row["status"], row["generation_attempts"], row["finished_at"]) == ("detected", 0, None)


async def test_a_picture_of_another_author_is_archived_and_another_is_drawn(link: Link) -> None:
    await taken(link, a_mint(1))
    await drawn(link, 1)
    await replaced(link, above=9)
    await taken(link, a_mint(1, block=11, fork=1, author=BOB, minter=BOB))
    row = await token(link, 1)
    assert (row["status"], row["wallet_address"], row["minter"], row["image_url"]) == ("detected", BOB, BOB, None)
    (event,) = await link.fetch("SELECT data->'archived'->>'image_url' AS url FROM events WHERE data ? 'archived'")
    assert event["url"] == IMAGE


async def test_who_draws_for_the_old_author_is_put_out_and_their_order_is_not_taken_up_again(link: Link) -> None:
    await taken(link, a_mint(1))
    await link.fetch(
        "UPDATE tokens_s0 SET status = 'generating', leased_by = 'w', leased_until = now() + interval '1 h', epoch = 7"
    )
    await link.fetch(
        "INSERT INTO attempts (item_id, step, epoch, provider, worker) SELECT id, 'generating', 7, 'studio', 'w' FROM tokens_s0"
    )
    await replaced(link, above=9)
    await taken(link, a_mint(1, block=11, fork=1, author=BOB))
    row = await token(link, 1)
    assert (row["status"], row["epoch"] > 7, row["leased_by"]) == ("detected", True, None)
    assert [row["outcome"] for row in await link.fetch("SELECT outcome FROM attempts")] == ["unknown"]


async def test_a_block_that_comes_back_brings_its_mints_back(link: Link) -> None:
    await taken(link, a_mint(1))
    await replaced(link, above=9)
    assert await taken(link, a_mint(1)) == Taken(logs=1)
    assert await orphaned(link, 10) == 0


async def test_a_token_goes_back_to_its_first_author_when_their_block_comes_back(link: Link) -> None:
    await taken(link, a_mint(1))
    await replaced(link, above=9)
    await taken(link, a_mint(1, fork=1, author=BOB))
    await replaced(link, above=9)
    await taken(link, a_mint(1))
    row = await token(link, 1)
    assert (row["wallet_address"], row["mint_block_hash"]) == (ALICE, a_mint(1).block_hash)


async def test_history_that_is_read_late_does_not_overrule_a_later_mint_of_the_same_id(link: Link) -> None:
    await taken(link, a_mint(1, block=20))
    await taken(link, a_mint(1, block=5, author=BOB, kind=TRANSFER))  # it was burned, and minted again
    row = await token(link, 1)
    assert (row["mint_block"], row["wallet_address"]) == (20, ALICE)


async def test_a_token_that_somebody_inserted_by_hand_gets_its_mint(link: Link) -> None:
    await link.fetch("INSERT INTO authors (wallet_address) VALUES ($1)", ALICE)
    await link.fetch(
        "INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id) VALUES ($1, $2, 1, 1)", CHAIN, CONTRACT
    )
    assert await taken(link, a_mint(1)) == Taken(logs=1, again=1)
    assert (await token(link, 1))["mint_block"] == 10


async def test_a_log_that_was_spoilt_once_becomes_a_token_when_it_is_read_well(link: Link) -> None:
    good = a_mint(1)
    bad = Undecodable(good.block_number, good.block_hash, good.tx_hash, good.log_index, "short", msgspec.Raw(b"{}"))
    async with link.transaction() as fetch:
        await take(fetch, COLLECTION, Page([], [bad]))
    assert await taken(link, good) == Taken(logs=1, born=1)
    (row,) = await link.fetch("SELECT kind, problem FROM chain_event")
    assert tuple(row) == (BATCH_MINTED, None)


async def test_an_author_that_was_spoilt_once_is_put_right(link: Link) -> None:
    await taken(link, a_mint(1, author=BOB))
    assert await taken(link, a_mint(1)) == Taken(logs=1, again=1)
    assert (await token(link, 1))["wallet_address"] == ALICE


async def test_a_token_goes_back_to_its_first_mint_when_only_the_second_left_the_chain(link: Link) -> None:
    await taken(link, *(a_mint(n, block=5, kind=TRANSFER) for n in (1, 2, 3)))
    await taken(link, *(a_mint(n, block=20, kind=TRANSFER) for n in (1, 2, 4)))  # two were burned, and minted again
    await replaced(link, above=19)
    assert await orphaned(link, 20) == 1
    rows = await link.fetch("SELECT status, mint_block FROM tokens_s0 ORDER BY token_id")
    assert [tuple(row) for row in rows] == [*[("detected", 5)] * 3, ("orphaned", 20)]


async def test_more_tokens_than_one_statement_takes_are_written_in_parts(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "AT_ONCE", 10)
    assert (await taken(link, a_mint(1, 7), a_mint(8, 7), a_mint(15, 25), a_mint(40, 1))).born == 40
    assert (await link.fetch("SELECT count(*) AS n FROM tokens_s0"))[0]["n"] == 40


async def test_tokens_that_a_spoilt_log_named_are_orphaned_when_it_is_read_well(link: Link) -> None:
    await taken(link, a_mint(1, 6, log_index=3))
    assert await taken(link, a_mint(1, 1, log_index=3), a_mint(2, 1, block=11, author=BOB)) == Taken(logs=2, again=1)
    rows = await link.fetch("SELECT token_id::int, status FROM tokens_s0 ORDER BY 1")
    assert [tuple(row) for row in rows] == [(1, "detected"), (2, "detected"), *((n, "orphaned") for n in (3, 4, 5, 6))]
    assert (await token(link, 2))["wallet_address"] == BOB


async def test_a_batch_that_comes_late_gives_its_token_the_author_wherever_it_stands_in_its_transaction(
    link: Link,
) -> None:
    await taken(link, a_mint(1, log_index=5, kind=TRANSFER))
    await taken(link, a_mint(1, log_index=2, author=BOB))
    assert (await token(link, 1))["wallet_address"] == BOB


async def test_what_a_person_cancelled_stays_so_when_it_is_mined_again(link: Link) -> None:
    await taken(link, a_mint(1))
    await control.cancel(link, TOKENS, [(await token(link, 1))["id"]], "ann", reason="spam")
    await replaced(link, above=9)
    await orphaned(link, 10)
    await taken(link, a_mint(1, block=30, fork=1))
    row = await token(link, 1)
    assert (row["status"], row["generation_error"]) == ("failed", "Cancelled by ann: spam")
