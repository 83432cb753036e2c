"""Tokens that are sent back, on a real chain: what it shows already is not sent again; and how that is told and watched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from glisk.cli import watching
from glisk.engine.link import Link
from glisk.repositories import timeline
from glisk.repositories.rerunning import REVEALING
from glisk.repositories.token_board import TokenBoard
from tests.chains import a_chain
from tests.revealing import BLOCK_TIME, Stage


@pytest.fixture
async def stage(database_url: str, connection: Any, tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_chain(BLOCK_TIME) as chain:
        yield Stage(database_url, connection, chain, tmp_path / "data", await chain.deploy_collection())


@pytest.fixture
async def board(database_url: str) -> AsyncIterator[TokenBoard]:
    link = Link(database_url)
    yield TokenBoard(link)
    await link.close()


async def test_what_the_chain_shows_already_is_not_sent_again(stage: Stage, board: TokenBoard) -> None:
    await stage.minted(2)
    await stage.revealed(2, stage.together(2))
    outcome = await board.rerun(await board.named(["1", "2"]), REVEALING, "anna")
    assert len(outcome.moved) == 2
    await stage.revealed(2)
    assert await stage.nonce() == 1, "one transaction, and no other"
    story = await timeline.story(board.link, outcome.moved[0].id)
    assert [(entry.step, entry.verdict) for entry in story.entries] == [
        ("revealing", "done"),
        ("by hand", "sent back"),
        ("revealing", "done"),
    ]
    first = story.entries[0]
    assert first.text.startswith("batch of 2 · ")
    assert first.receipt is not None
    assert first.receipt.startswith("0x")
    assert first.wei == story.wei > 0


async def test_a_token_is_watched_until_it_is_revealed(
    stage: Stage, board: TokenBoard, capsys: pytest.CaptureFixture[str]
) -> None:
    await stage.minted(1)
    (seen,) = await board.named(["1"])
    watched = asyncio.create_task(watching.until_ended(board, seen.id))
    async with stage.at_work():
        assert await watched == "revealed"
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "Token 1 is revealed."
    assert [line for line in lines if "revealing" in line and "done" in line]
