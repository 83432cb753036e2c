"""Prompts that authors publish, or an operator for them: each counts once, and the last one is drawn."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from glisk.engine.link import Link
from glisk.errors import NonceUsed
from glisk.repositories import author_repository
from glisk.repositories.author_repository import Signed

WALLET = "0x" + "ab" * 20
SIGNED = Signed(31337, "0x" + "c0" * 20, datetime(2030, 1, 1, tzinfo=UTC), b"signature")
AUTHOR = "SELECT prompt_text, prompt_disclosure, prompt_nonce FROM authors WHERE wallet_address = $1"


async def publish(link: Link, prompt: str, nonce: int | None = None, **terms: Any) -> int:
    usual: dict[str, Any] = {"disclosure": None, "signed": None, "actor": "anna"}
    async with link.transaction() as fetch:
        return await author_repository.publish(fetch, WALLET, prompt, nonce, **(usual | terms))


async def test_the_first_prompt_makes_the_author(link: Link, connection: Any) -> None:
    assert await publish(link, "A lighthouse", disclosure="later") == 1
    assert tuple(await connection.fetchrow(AUTHOR, WALLET)) == ("A lighthouse", "later", 1)


async def test_every_prompt_is_kept_and_the_last_is_drawn(link: Link, connection: Any) -> None:
    await publish(link, "A lighthouse", disclosure="never")
    assert await publish(link, "A harbour", 2, signed=SIGNED, actor=WALLET) == 2
    assert tuple(await connection.fetchrow(AUTHOR, WALLET)) == ("A harbour", "never", 2)
    kept = await connection.fetch("SELECT nonce, prompt, signature, actor FROM author_prompts ORDER BY nonce")
    assert [tuple(row) for row in kept] == [(1, "A lighthouse", None, "anna"), (2, "A harbour", b"signature", WALLET)]
    told = await connection.fetch("SELECT actor, data ->> 'nonce' FROM events WHERE to_status = 'prompt published'")
    assert [tuple(row) for row in told] == [("anna", "1"), (WALLET, "2")]


@pytest.mark.parametrize("nonce", [0, 1, 3])
async def test_an_old_nonce_or_one_ahead_is_refused_and_changes_nothing(
    nonce: int, link: Link, connection: Any
) -> None:
    await publish(link, "A lighthouse")
    with pytest.raises(NonceUsed):
        await publish(link, "A harbour", nonce)
    assert (await connection.fetchrow(AUTHOR, WALLET))["prompt_text"] == "A lighthouse"


async def test_of_two_at_once_with_the_same_nonce_one_counts(database_url: str, connection: Any) -> None:
    links = [Link(database_url), Link(database_url)]
    done = await asyncio.gather(*(publish(link, "A lighthouse", 1) for link in links), return_exceptions=True)
    assert sorted(type(each).__name__ for each in done) == ["NonceUsed", "int"]
    assert await connection.fetchval("SELECT count(*) FROM author_prompts") == 1
    await asyncio.gather(*(link.close() for link in links))
