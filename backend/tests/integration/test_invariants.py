"""A row that breaks an invariant is refused by the database itself."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest

from tests.builders import IMAGE, MANY_TOKENS

LEASE = "leased_by = 'w', leased_until = now()"
DRAWN = f"image_url = '{IMAGE}'"
MINTED = "minter = '0x' || repeat('a', 40), mint_block = 1, mint_block_hash = sha256('b'), mint_tx = sha256('t'), mint_log = 0"
PINNED = f"{DRAWN}, image_key = 'k', image_cid = 'c', metadata_cid = 'm'"

BROKEN = [
    ("status_is_known", "status = 'painted'"),
    ("attempts_within_budget", "generation_attempts = -1"),
    ("attempts_within_budget", "generation_attempts = 4, status = 'failed', generation_error = 'no'"),
    ("error_is_short", "generation_error = repeat('x', 1001)"),
    ("image_url_is_http", "image_url = 'ftp://x/y.png'"),
    ("image_url_is_http", "image_url = 'https://'"),
    ("failed_has_error", "status = 'failed'"),
    ("failed_has_error", "status = 'failed', generation_error = ''"),
    ("spent_is_not_waiting", "generation_attempts = 3"),
    ("drawn_has_image", "status = 'uploading'"),
    ("drawn_has_image", f"status = 'pinning', {LEASE}"),
    ("pinned_is_whole", f"status = 'ready', {DRAWN}"),
    ("pinned_is_whole", f"status = 'revealed', {DRAWN}, image_key = 'k', image_cid = 'c', token_uri = 'u'"),
    ("revealed_has_uri", f"status = 'revealed', finished_at = now(), {PINNED}"),
    ("tags_are_a_list", "tags = '{}'"),
    ("salt_is_whole", "prompt_salt = 'short'"),
    ("uri_is_short", "token_uri = ''"),
    ("reveal_tx_is_whole", "reveal_tx = 'short'"),
    ("leased_iff_active", "status = 'generating'"),
    ("leased_iff_active", LEASE),
    ("leased_iff_active", "status = 'generating', leased_by = 'w'"),
    ("finished_is_free", f"status = 'generating', {LEASE}, finished_at = now()"),
    ("waiting_is_open", "finished_at = now()"),
    ("workflow_is_token", "workflow = 'image_edit'"),
    ("chain_id_is_positive", "chain_id = 0"),
    ("epoch_only_grows", "epoch = -1"),
    ("reclaims_are_counted", "reclaims = -1"),
    ("priority_is_a_digit", "priority = 10"),
    ("retries_are_counted", "retry_count = -1"),
    ("prompt_source_is_known", "prompt_source = 'dream'"),
    ("image_sha256_is_whole", "image_sha256 = '\\x00'"),
    ("contract_is_an_address", "contract_address = '0xABC'"),
    ("token_id_is_uint256", "token_id = -1"),
    ("token_id_is_uint256", "token_id = 2::numeric ^ 256"),
    ("mint_is_whole", "mint_block = 1"),
    ("mint_is_whole", MINTED.replace("mint_log = 0", "mint_log = NULL")),
    ("minter_is_an_address", MINTED.replace("40", "39")),
    ("mint_block_is_whole", MINTED.replace("sha256('b')", "'\\x00'")),
    ("mint_tx_is_whole", MINTED.replace("sha256('t')", "'\\x00'")),
]

ALLOWED = [
    "status = 'failed', generation_error = 'no', finished_at = now()",
    f"status = 'uploading', generation_attempts = 3, {DRAWN}",
    f"status = 'revealed', finished_at = now(), {PINNED}, token_uri = 'ipfs://m'",
    f"status = 'generating', generation_attempts = 3, {LEASE}",
    f"status = 'ready', finished_at = now(), {PINNED}",
    "status = 'orphaned', finished_at = now()",
    "status = 'review'",
    "token_id = 2::numeric ^ 256 - 1",
    MINTED,
]


@pytest.fixture
async def tokens(connection: Any) -> Any:
    await connection.execute(MANY_TOKENS, 1, ["detected"], 0)
    return connection


@pytest.mark.parametrize(("invariant", "change"), BROKEN)
async def test_a_wrong_token_cannot_exist(invariant: str, change: str, tokens: Any) -> None:
    with pytest.raises(asyncpg.CheckViolationError) as caught:
        await tokens.execute(f"UPDATE tokens_s0 SET {change}")
    assert caught.value.constraint_name == invariant


@pytest.mark.parametrize("change", ALLOWED)
async def test_a_right_token_can(change: str, tokens: Any) -> None:
    await tokens.execute(f"UPDATE tokens_s0 SET {change}")


async def test_every_invariant_is_broken_by_a_case_above(tokens: Any) -> None:
    checks = await tokens.fetch(
        "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = 'tokens_s0'::regclass"
    )
    assert {row["conname"] for row in checks} == {invariant for invariant, _ in BROKEN}


async def test_a_token_has_an_author(tokens: Any) -> None:
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await tokens.execute("UPDATE tokens_s0 SET author_id = 999999")


async def test_a_token_exists_once(tokens: Any) -> None:
    with pytest.raises(asyncpg.UniqueViolationError):
        await tokens.execute(
            "INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id) "
            "SELECT chain_id, contract_address, token_id, author_id FROM tokens_s0"
        )


@pytest.mark.parametrize(
    ("wallet", "prompt"),
    [("0x" + "AB" * 20, "x"), ("0x12", "x"), ("ab" * 20, "x"), ("0x" + "ab" * 20, "x" * 1001)],
)
async def test_a_wrong_author_cannot_exist(wallet: str, prompt: str, connection: Any) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await connection.execute("INSERT INTO authors (wallet_address, prompt_text) VALUES ($1, $2)", wallet, prompt)


async def test_a_prompt_is_measured_in_characters(connection: Any) -> None:
    await connection.execute(
        "INSERT INTO authors (wallet_address, prompt_text) VALUES ($1, $2)", "0x" + "ab" * 20, "Ж" * 1000
    )
