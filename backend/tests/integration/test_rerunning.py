"""Tokens that a person sends through a step once more: what may be, is; what would end badly is refused, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from glisk.engine import ledger
from glisk.engine.link import Link
from glisk.repositories.rerunning import GENERATING, PINNING, REVEALING, STEPS
from glisk.repositories.token_board import TokenBoard
from tests.builders import PINNED
from tests.drawing import Atelier
from tests.integration.test_tokens import A_PRINT, STANDING, everything, reasons, standing

# Where each status may be sent, by the step; everything else is refused.
ALLOWED = {
    **{(status, GENERATING): "detected" for status in ("uploading", "pinning", "ready", "revealing", "failed")},
    **{(status, PINNING): "uploading" for status in ("ready", "revealing")},
    ("revealed", REVEALING): "ready",
}


@pytest.fixture
def board(link: Link) -> TokenBoard:
    return TokenBoard(link)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("status", STANDING)
async def test_every_status_goes_back_where_that_ends_well(
    status: str, step: str, board: TokenBoard, connection: Any
) -> None:
    id = await standing(connection, status)
    outcome = await board.rerun(await board.named(["7"]), step, "anna")
    wanted = ALLOWED.get((status, step))
    assert bool(outcome.moved) == bool(wanted)
    assert bool(outcome.left) != bool(wanted)
    row = await everything(connection, id)
    assert row["status"] == (wanted or status)
    assert wanted is None or (row["finished_at"], row["leased_by"]) == (None, None)


async def test_drawn_again_it_forgets_the_picture_and_what_was_made_of_it(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "ready", generation_attempts=3, prompt_salt=b"s" * 32)
    await connection.execute(A_PRINT, id)
    await board.rerun(await board.named(["7"]), GENERATING, "anna", "six fingers")
    row = await everything(connection, id)
    assert {row[name] for name in (*PINNED, "prompt_salt")} == {None}
    assert row["generation_attempts"] == 0
    assert await connection.fetchval("SELECT count(*) FROM image_prints") == 0
    event = await connection.fetchrow("SELECT actor, data ->> 'reason' AS reason FROM events WHERE item_id = $1", id)
    assert tuple(event) == ("anna", "six fingers")


async def test_pinned_again_it_keeps_the_picture_and_is_described_anew(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "failed", **PINNED)
    await board.rerun(await board.named(["7"]), PINNING, "anna")
    row = await everything(connection, id)
    assert (row["status"], row["image_cid"], row["metadata_cid"]) == ("uploading", None, None)
    assert row["image_key"] == PINNED["image_key"]


async def test_one_that_is_pinned_and_failed_is_revealed_once_more(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "failed", **PINNED)
    await board.rerun(await board.named(["7"]), REVEALING, "anna")
    assert (await everything(connection, id))["status"] == "ready"


@pytest.mark.parametrize("step", STEPS)
async def test_one_whose_reveal_is_on_its_way_cannot(step: str, board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "failed", **PINNED)
    await ledger.open_attempt(connection.fetch, id, "revealing", 1, provider="chain", worker="w")
    outcome = await board.rerun(await board.named(["7"]), step, "anna")
    assert reasons(outcome) == {"its reveal is on its way, and cannot be called back": ["7"]}


async def test_a_reveal_that_is_sent_after_the_look_is_seen_all_the_same(board: TokenBoard, connection: Any) -> None:
    id = await standing(connection, "revealing")
    seen = await board.named(["7"])
    await ledger.open_attempt(connection.fetch, id, "revealing", seen[0].epoch, provider="chain", worker="w")
    assert not (await board.rerun(seen, GENERATING, "anna")).moved
    assert not (await board.hold(seen, "anna")).moved


@pytest.mark.parametrize("step", [GENERATING, PINNING])
async def test_what_the_world_has_seen_is_not_changed_on_a_detour(
    step: str, board: TokenBoard, connection: Any
) -> None:
    columns = PINNED | {"token_uri": f"ipfs://{PINNED['metadata_cid']}"}
    await standing(connection, "ready", **columns)
    (why,) = reasons(await board.rerun(await board.named(["7"]), step, "anna"))
    assert "revealed" in why


async def test_one_whose_picture_is_lost_for_good_is_drawn_again_and_paid_once_more(
    atelier: Atelier, board: TokenBoard
) -> None:
    await atelier.token(1)
    await atelier.drawn()
    await atelier.connection.execute(
        "UPDATE tokens_s0 SET status = 'failed', generation_error = 'gone', finished_at = now()"
    )
    outcome = await board.rerun(await board.named(["1"]), GENERATING, "anna")
    assert len(outcome.moved) == 1
    await atelier.drawn()
    assert (await atelier.row())["image_key"] is not None
    assert atelier.charged() == 2
