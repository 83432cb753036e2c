"""glisk authors, as a person uses it: who there is, and whose prompts are public."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from glisk.cli.main import app
from tests.builders import PINNED, a_token_row

AUTHOR = "0x" + "ab" * 20
CHOICE = "SELECT prompt_disclosure FROM authors"
GONE: dict[str, Any] = {"status": "orphaned", "finished_at": datetime(2026, 1, 1, tzinfo=UTC)}


@pytest.fixture(autouse=True)
def with_database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)


def authors(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["authors", *arguments])


async def listed() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((await told("ls", "--json")).stdout)
    return found


async def told(*arguments: str) -> Result:
    """In a thread: a command runs a loop of its own."""
    return await asyncio.to_thread(authors, *arguments)


async def test_authors_are_listed_with_what_holds_for_them(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await listed() == []
    for token_id, columns in enumerate(({}, {}, GONE)):
        await a_token_row(connection, token_id, **columns)
    await connection.execute("UPDATE authors SET prompt_text = 'A fox'")
    monkeypatch.setenv("GLISK_PROMPT_DISCLOSURE", "never")
    row = {"wallet": AUTHOR, "prompt": "A fox", "disclosure": "never", "is_chosen": False, "tokens": 2}
    assert await listed() == [row]
    await told("disclose", AUTHOR, "now")
    assert await listed() == [row | {"disclosure": "now", "is_chosen": True}]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("now", ["1 pinned before: their prompts are told", "1 pinned before without a salt"]),
        ("later", ["1 pinned before: what their metadata tells stays public", "1 pinned before without a salt"]),
        ("never", ["nobody can open", "1 pinned before: what their metadata tells stays public"]),
    ],
)
async def test_a_choice_is_kept_and_says_what_it_means_for_what_is_pinned(
    choice: str, said: list[str], connection: Any
) -> None:
    await a_token_row(connection, 1, status="ready", **PINNED, prompt_salt=bytes(32))
    await a_token_row(connection, 2, status="ready", **PINNED)
    await a_token_row(connection, 3)
    answer = await told("disclose", AUTHOR.upper().replace("0X", "0x"), choice)
    assert answer.exit_code == 0
    assert all(part in answer.output for part in said)
    assert await connection.fetchval(CHOICE) == choice


async def test_what_cannot_be_meant_is_refused(connection: Any) -> None:
    await a_token_row(connection)
    for wallet, choice, code in ((AUTHOR, "soon", 2), ("0x12", "now", 2), ("0x" + "cd" * 20, "now", 1)):
        assert (await told("disclose", wallet, choice)).exit_code == code
    assert await connection.fetchval(CHOICE) is None
