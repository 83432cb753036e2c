"""What is kept about people is right, or the database refuses it."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

KEY = "INSERT INTO api_keys (name, key_sha256, scope) VALUES ('k', sha256('k'), 'operator')"
PROMPT = "INSERT INTO author_prompts (author_id, nonce, prompt, actor) SELECT author_id, 1, 'p', 'a' FROM authors"
OUTBOX = "INSERT INTO outbox (name, xact, event_id) VALUES ('o', '0', 0)"
ALERT = "INSERT INTO alerts (cause, kind, message, fix) VALUES ('c', 'lane', 'm', 'f')"

BROKEN = [
    ("api_keys", "key_name_is_short", "name = ''"),
    ("api_keys", "key_hash_is_whole", "key_sha256 = 'short'"),
    ("api_keys", "scope_is_known", "scope = 'king'"),
    ("api_keys", "user_key_has_a_user", "scope = 'user'"),
    ("api_keys", "rate_allows_something", "rate = 0"),
    ("api_keys", "daily_limit_is_an_amount", "daily_limit = -1"),
    ("authors", "prompt_nonce_only_grows", "prompt_nonce = -1"),
    ("author_prompts", "nonce_is_counted", "nonce = 0"),
    ("author_prompts", "signed_prompt_is_short", "prompt = repeat('x', 1001)"),
    ("author_prompts", "signed_disclosure_is_known", "disclosure = 'maybe'"),
    ("author_prompts", "signed_is_whole", "signature = 's'"),
    ("outbox", "tries_are_counted", "tries = -1"),
    ("outbox", "outbox_error_is_short", "error = ''"),
    ("alerts", "alert_is_short", "message = ''"),
]


@pytest.fixture
async def people(connection: Any) -> Any:
    await connection.execute("INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('a', 40))")
    for row in (KEY, PROMPT, OUTBOX, ALERT):
        await connection.execute(row)
    return connection


@pytest.mark.parametrize(("table", "invariant", "change"), BROKEN)
async def test_a_wrong_row_cannot_exist(table: str, invariant: str, change: str, people: Any) -> None:
    with pytest.raises(asyncpg.CheckViolationError) as caught:
        await people.execute(f"UPDATE {table} SET {change}")
    assert caught.value.constraint_name == invariant


async def test_every_invariant_of_the_new_tables_is_broken_by_a_case_above(people: Any) -> None:
    tables = ["api_keys", "author_prompts", "outbox", "alerts"]
    checks = await people.fetch(
        "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = ANY ($1::text[]::regclass[])", tables
    )
    assert {row["conname"] for row in checks} == {invariant for table, invariant, _ in BROKEN if table in tables}


async def test_of_the_keys_that_open_something_each_has_a_name_of_its_own(people: Any) -> None:
    another = KEY.replace("sha256('k')", "sha256('l')")
    with pytest.raises(asyncpg.UniqueViolationError):
        await people.execute(another)
    await people.execute("UPDATE api_keys SET revoked_at = now()")
    await people.execute(another)


async def test_a_nonce_counts_once(people: Any) -> None:
    with pytest.raises(asyncpg.UniqueViolationError):
        await people.execute(PROMPT)
