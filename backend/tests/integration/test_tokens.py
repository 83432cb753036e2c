"""What a person decides about tokens: accepted, rejected, retried, cancelled, each once and as they saw them; and what they can see."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from glisk.engine import ledger, store, wakeup
from glisk.engine.decide import Done, Row, decide
from glisk.engine.link import Link
from glisk.repositories.board import AT_ONCE
from glisk.repositories.token_board import CHANGED, Collection, Outcome, Seen, TokenBoard
from glisk.workflows import TOKEN, TOKENS
from tests.builders import CHAIN, CONTRACT, DRAWN, MANY_TOKENS, PINNED, a_token_row

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REVIEW: dict[str, Any] = {"status": "review", "finished_at": NOW, "generation_error": "it is nearly blank", **DRAWN}
FAILED: dict[str, Any] = {"status": "failed", "finished_at": NOW, "generation_error": "no"}
LEASE: dict[str, Any] = {"leased_by": "w", "leased_until": NOW}
# Every status, as a row may be in it.
STANDING: dict[str, dict[str, Any]] = {
    "detected": {},
    "generating": LEASE,
    "uploading": DRAWN,
    "pinning": DRAWN | LEASE,
    "ready": PINNED,
    "revealing": PINNED | LEASE,
    "revealed": PINNED | {"token_uri": "ipfs://m", "finished_at": NOW},
    "failed": FAILED,
    "orphaned": {"finished_at": NOW},
    "review": REVIEW,
}
OPEN = ["detected", "generating", "uploading", "pinning", "ready", "revealing"]
A_PRINT = "INSERT INTO image_prints (item_id, coarse, fine) VALUES ($1, 0, '')"
PICTURE = "SELECT image_url, image_key, image_sha256, image_mime, image_cid, metadata_cid FROM tokens_s0 WHERE id = $1"


@pytest.fixture
def board(link: Link) -> TokenBoard:
    return TokenBoard(link)


async def standing(connection: Any, status: str, token_id: int = 7, **columns: Any) -> int:
    return await a_token_row(connection, token_id, **{"status": status, **STANDING[status], **columns})


async def everything(connection: Any, id: int) -> dict[str, Any]:
    return dict(await connection.fetchrow("SELECT * FROM tokens_s0 WHERE id = $1", id))


def reasons(outcome: Outcome) -> dict[str, list[str]]:
    return {why: [token.token_id for token in tokens] for why, tokens in outcome.left.items()}


def test_every_status_stands_above() -> None:
    assert set(STANDING) == TOKEN.statuses()


async def test_an_accepted_token_goes_on_with_its_picture(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "review", generation_attempts=2, retry_count=1, epoch=5)
    await connection.execute(A_PRINT, id)
    outcome = await board.accept(await board.named(["7"]), "anna", "it is meant to be dark")
    assert ([token.id for token in outcome.moved], outcome.left) == ([id], {})
    row = await everything(connection, id)
    assert {name: row[name] for name in DRAWN} == DRAWN
    assert (row["status"], row["epoch"], row["generation_error"], row["finished_at"]) == ("uploading", 6, None, None)
    assert row["generation_attempts"] == 2, "what it took to draw it stays told"
    assert await connection.fetchval("SELECT count(*) FROM image_prints") == 1
    (event,) = (await board.history(id))["timeline"]
    assert (event["from_status"], event["to_status"], event["actor"]) == ("review", "uploading", "anna")
    assert event["data"] == {"reason": "it is meant to be dark"}


@pytest.mark.parametrize("missing", DRAWN)
async def test_what_has_no_whole_picture_is_not_accepted(missing: str, board: TokenBoard, connection: Any) -> None:
    lacking: dict[str, Any] = {missing: None}
    id = await standing(connection, "review", **lacking)
    outcome = await board.accept(await board.named(["7"]), "anna")
    assert (outcome.moved, reasons(outcome)) == (
        [],
        {"its picture is not all there; reject it, and another is drawn": ["7"]},
    )
    assert (await everything(connection, id))["epoch"] == 0
    assert (await board.history(id))["timeline"] == []


WAITED = {"generating": "detected", "pinning": "uploading", "revealing": "ready"}


@pytest.mark.parametrize("status", OPEN)
async def test_a_token_is_held_for_a_look_and_goes_on_where_it_was(
    status: str, board: TokenBoard, connection: Any
) -> None:
    id = await standing(connection, status)
    assert len((await board.hold(await board.named(["7"]), "anna", "is it a swan?")).moved) == 1
    row = await everything(connection, id)
    assert (row["status"], row["epoch"], row["leased_by"]) == ("review", 1, None)
    assert reasons(await board.hold(await board.named(["7"]), "anna")) == {"already review": ["7"]}
    assert len((await board.accept(await board.named(["7"]), "anna")).moved) == 1
    assert (await everything(connection, id))["status"] == WAITED.get(status, status)
    held, accepted = (await board.history(id))["timeline"]
    assert (held["to_status"], held["data"]) == ("review", {"reason": "is it a swan?"})
    assert accepted["from_status"] == "review"


@pytest.mark.parametrize("status", ["revealed", "failed", "orphaned"])
async def test_what_has_ended_is_not_held(status: str, board: TokenBoard, connection: Any) -> None:
    await standing(connection, status)
    assert reasons(await board.hold(await board.named(["7"]), "anna")) == {f"already {status}": ["7"]}


async def test_a_reveal_that_is_on_its_way_is_not_held(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "revealing")
    await connection.execute(
        "INSERT INTO attempts (item_id, step, epoch, provider, worker, receipt) VALUES ($1, 'revealing', 0, 'chain', 'w', 'r')",
        id,
    )
    outcome = await board.hold(await board.named(["7"]), "anna")
    assert reasons(outcome) == {"its reveal is on its way, and cannot be called back": ["7"]}


async def test_a_rejected_token_is_drawn_again(board: TokenBoard, connection: Any) -> None:
    """Also one that was reviewed after it had been pinned: what was made from the old picture must not go with the new one."""
    id = await standing(connection, "review", generation_attempts=3, prompt_source="fallback", **PINNED)
    other = await standing(connection, "review", token_id=8)
    for item in (id, other):
        await connection.execute(A_PRINT, item)
    outcome = await board.reject(await board.named(["7"]), "anna", "six fingers")
    assert ([token.token_id for token in outcome.moved], outcome.left) == (["7"], {})
    row = await everything(connection, id)
    assert (row["status"], row["generation_attempts"], row["generation_error"]) == ("detected", 0, None)
    assert (row["epoch"], row["finished_at"], row["prompt_source"]) == (1, None, "fallback")
    assert set(await connection.fetchrow(PICTURE, id)) == {None}
    assert await connection.fetchval("SELECT array_agg(item_id) FROM image_prints") == [other], "its own goes"
    (event,) = (await board.history(id))["timeline"]
    assert (event["to_status"], event["actor"], event["data"]) == ("detected", "anna", {"reason": "six fingers"})


async def test_what_was_sent_on_is_ready_and_workers_are_told(board: TokenBoard, connection: Any) -> None:
    heard = asyncio.Queue[str]()
    for channel in (wakeup.WORK, wakeup.LOST):
        await connection.add_listener(channel, lambda *call: heard.put_nowait(call[2]))
    id = await standing(connection, "review")
    await board.reject(await board.named(["7"]), "anna")
    assert {await heard.get(), await heard.get()} == {wakeup.WORK, wakeup.LOST}
    claimed = await store.claim(connection.fetch, TOKEN, "detected", limit=9, worker="w", lease=timedelta(minutes=1))
    assert [row["id"] for row in claimed] == [id]


@pytest.mark.parametrize("status", [status for status in STANDING if status != "review"])
async def test_only_what_is_in_review_is_accepted_or_rejected(status: str, board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, status)
    before = await everything(connection, id)
    seen = await board.named(["7"])
    for act in (board.accept, board.reject):
        assert reasons(await act(seen, "anna")) == {f"{status}, not in review": ["7"]}
    assert await everything(connection, id) == before


@pytest.mark.parametrize("status", [status for status in STANDING if status != "failed"])
async def test_only_what_failed_is_retried(status: str, board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, status)
    before = await everything(connection, id)
    assert reasons(await board.retry(await board.named(["7"]), "anna")) == {f"{status}, not failed": ["7"]}
    assert await everything(connection, id) == before


async def test_a_failed_token_goes_back_to_the_first_step_whose_facts_are_missing(
    board: TokenBoard, connection: Any
) -> None:
    """Whatever it has and has not, and however often it was tried: no rule of the database is broken by it."""
    facts = [name for name in PINNED if name != "image_mime"]
    expected: dict[int, str] = {}
    for n, given in enumerate(itertools.product((True, False), repeat=len(facts))):
        has = {name for name, is_given in zip(facts, given, strict=True) if is_given}
        is_drawn, is_pinned = {"image_url", "image_key"} <= has, {"image_cid", "metadata_cid"} <= has
        columns = {name: PINNED[name] for name in has} | {"generation_attempts": n % 4}
        id = await standing(connection, "failed", token_id=n, **columns)
        expected[id] = "detected" if not is_drawn else "ready" if is_pinned else "uploading"
    assert set(expected.values()) == set(TOKEN.steps)
    outcome = await board.retry(await board.every_failed(), "anna")
    assert (len(outcome.moved), outcome.left) == (len(expected), {})
    rows = await connection.fetch("SELECT * FROM tokens_s0")
    assert {row["id"]: row["status"] for row in rows} == expected
    assert {row["generation_attempts"] for row in rows if row["status"] == "detected"} == {0}
    assert {row["generation_attempts"] for row in rows if row["status"] != "detected"} == {0, 1, 2, 3}
    assert not [row for row in rows if row["status"] == "detected" and (row["image_key"] or row["image_cid"])]
    assert {row["epoch"] for row in rows} == {1}


async def test_a_token_that_somebody_failed_by_hand_can_be_retried(board: TokenBoard, connection: Any) -> None:
    await standing(connection, "failed", finished_at=None)
    assert len((await board.retry(await board.named(["7"]), "anna")).moved) == 1


async def test_all_that_failed_are_retried_and_nothing_else(board: TokenBoard, connection: Any) -> None:
    n = 2 * AT_ONCE + 500
    await connection.execute(MANY_TOKENS, n, ["failed", "detected"], 0)
    seen = await board.every_failed()
    assert len(seen) == n / 2
    assert len((await board.retry(seen, "anna")).moved) == n / 2
    assert await connection.fetchval("SELECT count(*) FROM tokens_s0 WHERE status = 'detected'") == n
    assert await connection.fetchval("SELECT count(DISTINCT item_id) FROM events WHERE actor = 'anna'") == n / 2
    assert (await board.retry(await board.every_failed(), "anna")).moved == []


@pytest.mark.parametrize("status", OPEN)
async def test_an_open_token_is_cancelled_whatever_is_done_to_it(
    status: str, board: TokenBoard, connection: Any
) -> None:
    id = await standing(connection, status, epoch=4)
    assert len((await board.cancel(await board.named(["7"]), "anna")).moved) == 1
    row = await everything(connection, id)
    assert (row["status"], row["generation_error"]) == ("failed", "Cancelled by anna")
    assert (row["leased_by"], row["epoch"], row["finished_at"] is not None) == (None, 5, True)
    (event,) = (await board.history(id))["timeline"]
    assert (event["from_status"], event["to_status"], event["actor"]) == (status, "failed", "anna")


async def test_whoever_was_at_work_on_a_cancelled_token_writes_nothing(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "generating", epoch=4)
    await board.cancel(await board.named(["7"]), "anna")
    row = Row(id, 4, "generating", "detected")
    assert not await store.settle(connection.fetch, TOKENS, [(row, decide(TOKEN, row, Done(DRAWN)))], "w")
    assert (await everything(connection, id))["status"] == "failed"


async def test_a_reason_goes_with_the_error_as_far_as_there_is_room(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "detected")
    await board.cancel(await board.named(["7"]), "anna", "x" * 2000)
    error = (await everything(connection, id))["generation_error"]
    assert error.startswith("Cancelled by anna: xxx")
    assert len(error) == 1000


@pytest.mark.parametrize(
    ("status", "why"),
    [
        *((status, f"already {status}") for status in ("revealed", "failed", "orphaned")),
        ("review", "in review; accept or reject it"),
    ],
)
async def test_what_is_at_its_end_or_in_review_is_not_cancelled(
    status: str, why: str, board: TokenBoard, connection: Any
) -> None:
    id = await standing(connection, status)
    before = await everything(connection, id)
    assert reasons(await board.cancel(await board.named(["7"]), "anna")) == {why: ["7"]}
    assert await everything(connection, id) == before


@pytest.mark.parametrize("status", ["detected", "uploading", "ready"])
async def test_a_cancelled_token_that_is_retried_goes_on_where_it_was(
    status: str, board: TokenBoard, connection: Any
) -> None:
    id = await standing(connection, status)
    await board.cancel(await board.named(["7"]), "anna")
    await board.retry(await board.named(["7"]), "bob")
    row = await everything(connection, id)
    assert (row["status"], row["epoch"], row["generation_error"]) == (status, 2, None)


@pytest.mark.parametrize(("decision", "status"), [("accept", "uploading"), ("reject", "detected")])
async def test_what_a_downgrade_left_in_review_is_decided_like_any_other(
    decision: str, status: str, board: TokenBoard, connection: Any
) -> None:
    """It is not finished there, and yet no worker's: only accepting and rejecting move it."""
    id = await standing(connection, "review", finished_at=None)
    seen = await board.named(["7"])
    assert reasons(await board.cancel(seen, "anna")) == {"in review; accept or reject it": ["7"]}
    assert len((await getattr(board, decision)(seen, "anna")).moved) == 1
    assert (await everything(connection, id))["status"] == status


async def test_of_many_who_decide_at_once_one_does(database_url: str, connection: Any) -> None:
    id = await standing(connection, "review")
    await connection.execute(A_PRINT, id)
    boards = [TokenBoard(Link(database_url)) for _ in range(8)]
    (seen, *_) = [await board.named(["7"]) for board in boards]
    acts = [board.accept if n % 2 else board.reject for n, board in enumerate(boards)]
    outcomes = await asyncio.gather(*(act(seen, f"person {n}") for n, act in enumerate(acts)))
    (winner,) = [n for n, outcome in enumerate(outcomes) if outcome.moved]
    status = (await everything(connection, id))["status"]
    assert status == ("uploading" if winner % 2 else "detected")
    assert {why for n, outcome in enumerate(outcomes) if n != winner for why in outcome.left} == {
        f"{status}, not in review"
    }
    assert await connection.fetch("SELECT epoch FROM tokens_s0") == [(1,)]
    assert await connection.fetch("SELECT actor FROM events") == [(f"person {winner}",)]
    assert await connection.fetchval("SELECT count(*) FROM image_prints") == winner % 2
    await asyncio.gather(*(board.link.close() for board in boards))


async def test_a_picture_that_nobody_has_looked_at_is_not_accepted(board: TokenBoard, connection: Any) -> None:
    """While the question was asked, a colleague rejected the picture, and another one came."""
    await standing(connection, "review")
    seen = await board.named(["7"])
    await board.reject(seen, "bob")
    again = "status = 'review', finished_at = now(), image_url = 'https://x/2.png', image_key = 'other'"
    await connection.execute(
        f"UPDATE tokens_s0 SET {again}, image_sha256 = $1, image_mime = 'image/png', epoch = epoch + 2", bytes(32)
    )
    outcome = await board.accept(seen, "anna")
    assert (outcome.moved, reasons(outcome)) == ([], {CHANGED: ["7"]})
    assert len((await board.accept(await board.named(["7"]), "anna")).moved) == 1


async def test_a_status_that_somebody_changed_by_hand_counts_too(board: TokenBoard, connection: Any) -> None:
    await standing(connection, "review")
    seen = await board.named(["7"])
    await connection.execute("UPDATE tokens_s0 SET status = 'orphaned'")
    assert reasons(await board.accept(seen, "anna")) == {"orphaned, not in review": ["7"]}


async def test_some_move_and_the_others_are_told_apart(board: TokenBoard, connection: Any) -> None:
    await standing(connection, "review", 1)
    await standing(connection, "review", 2, image_key=None)
    for n in (3, 4):
        await standing(connection, "ready", n)
    outcome = await board.accept(await board.named(["1", "2", "3", "4"]), "anna")
    assert [token.token_id for token in outcome.moved] == ["1"]
    assert reasons(outcome) == {
        "its picture is not all there; reject it, and another is drawn": ["2"],
        "ready, not in review": ["3", "4"],
    }


async def test_a_token_is_named_by_its_whole_id(board: TokenBoard, connection: Any) -> None:
    large = 2**256 - 1
    for token_id in (large, large - 1, 0):
        await standing(connection, "detected", token_id)
    (found,) = await board.named([str(large)])
    assert (found.token_id, found.status) == (str(large), "detected")
    assert [token.token_id for token in await board.named(["0"])] == ["0"]
    assert await board.named(["1"]) == []


async def test_the_same_id_in_several_collections_is_told_apart(board: TokenBoard, connection: Any) -> None:
    other = "0x" + "d1" * 20
    places = [(CHAIN, CONTRACT), (CHAIN, other), (1, CONTRACT)]
    for chain, contract in places:
        await standing(connection, "failed", chain_id=chain, contract_address=contract)

    def where(tokens: list[Seen]) -> list[tuple[int, str]]:
        return [(token.chain_id, token.contract_address) for token in tokens]

    assert where(await board.named(["7"])) == places
    assert where(await board.named(["7"], Collection(other))) == [(CHAIN, other)]
    assert where(await board.named(["7"], Collection(CONTRACT))) == [places[0], places[2]]
    assert where(await board.named(["7"], Collection(CONTRACT, 1))) == [(1, CONTRACT)]
    assert where(await board.every_failed(Collection(CONTRACT))) == [places[0], places[2]]
    await board.retry(await board.named(["7"], Collection(other)), "anna")
    assert where(await board.every_failed()) == [places[0], places[2]]


async def test_the_newest_come_first_and_can_be_narrowed_down(board: TokenBoard, connection: Any) -> None:
    for n, status in enumerate(["detected", "failed", "review"]):
        await standing(connection, status, n)
    await connection.execute("INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('cd', 20))")
    assert [row["token_id"] for row in await board.newest()] == ["2", "1", "0"]
    assert [row["token_id"] for row in await board.newest(limit=2)] == ["2", "1"]
    (failed,) = await board.newest("failed")
    assert (failed["token_id"], failed["contract"], failed["error"]) == ("1", CONTRACT, "no")
    assert (failed["attempts"], failed["prompt_source"]) == (0, "author")
    assert len(await board.newest(wallet="0x" + "ab" * 20)) == 3
    assert await board.newest(wallet="0x" + "cd" * 20) == []
    assert await board.newest(wallet="0x" + "ef" * 20) == []


async def test_a_token_is_shown_with_all_that_happened_to_it(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "review", 2**200, prompt="a cat")
    attempt = await ledger.open_attempt(
        *(connection.fetch, id, "generating", 1),
        provider="replicate",
        worker="w",
        model="flux",
        seed=2**62,
        prompt_source="author",
    )
    await ledger.record(connection.fetch, attempt.id, "done", receipt="abc", cost=Decimal("0.003"))
    await board.reject(await board.named([str(2**200)]), "anna")
    shown = await board.whole(id)
    assert (shown["token_id"], shown["author"], shown["prompt"]) == (str(2**200), "0x" + "ab" * 20, "a cat")
    assert shown["image_sha256"] is None
    assert {"status", "epoch", "image_cid", "detected_at", "generation_error"} <= set(shown)
    history = await board.history(id)
    assert [event["to_status"] for event in history["timeline"]] == ["detected"]
    (paid,) = history["attempts"]
    assert (paid["provider"], paid["model"], paid["seed"], paid["prompt_source"]) == (
        *("replicate", "flux", str(2**62), "author"),
    )
    assert (paid["outcome"], paid["receipt"], paid["cost"], paid["error"]) == ("done", "abc", Decimal("0.003"), None)
    assert paid["finished_at"] >= paid["started_at"]


async def test_a_hash_is_shown_as_people_write_it(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "uploading")
    assert (await board.whole(id))["image_sha256"] == bytes(range(32)).hex()


async def test_hashes_are_shown_as_people_look_them_up_and_the_salt_not_at_all(
    board: TokenBoard, connection: Any
) -> None:
    id = await standing(connection, "revealed", reveal_tx=bytes(range(32)), prompt_salt=bytes(32))
    shown = await board.whole(id)
    assert shown["reveal_tx"] == "0x" + bytes(range(32)).hex()
    assert "prompt_salt" not in shown
