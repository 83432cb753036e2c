"""From a signature to a mint: what an author publishes is what the next token is drawn from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from glisk.chain import book
from glisk.hosting import Home, application
from glisk.settings import Settings
from tests.authors import Wallet, publish
from tests.chains import Chain
from tests.listening import Watch, following, watching
from tests.serving import served

ANNA = Wallet()


@pytest.fixture
async def watch(database_url: str) -> AsyncIterator[Watch]:
    async with watching(database_url) as watch:
        yield watch


@pytest.mark.parametrize("kind", ["an account", "a contract"])
async def test_the_next_mint_is_drawn_from_what_was_signed(
    kind: str, chain: Chain, collection: str, database_url: str, watch: Watch, tmp_path: Path
) -> None:
    author = ANNA.address if kind == "an account" else await chain.deploy("SmartWallet", ANNA.address, 0)
    settings = Settings(data_dir=tmp_path, rpc_urls=chain.url, contracts=f"{chain.chain_id}:{collection}")
    async with (
        following(database_url, chain, collection),
        application(Home(settings, settings, database_url)) as app,
        served(app) as url,
        httpx.AsyncClient(base_url=url) as server,
    ):
        await chain.mint(author, contract=collection)
        await watch.until_there("SELECT 1 FROM tokens_s0")
        answer = await publish(server, author, ANNA.published(author, contract=collection, prompt="A heron at dawn"))
        assert answer.status_code == 201, answer.text
        await chain.mint(author, contract=collection)
        await watch.until_there("SELECT 1 FROM tokens_s0 WHERE prompt IS NOT NULL")
    rows = await watch.fetch("SELECT prompt FROM tokens_s0 ORDER BY token_id")
    assert [row["prompt"] for row in rows] == [None, "A heron at dawn"]


async def test_who_looks_at_a_chain_without_news_says_so(
    chain: Chain, collection: str, database_url: str, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a quiet chain could not be told from a listener that is gone."""
    monkeypatch.setattr(book, "SAY_EVERY_S", 0.0)
    async with following(database_url, chain, collection):
        await watch.until(f"tip_no = {(await chain.head()).number}")
        for _ in range(3):
            seen = await watch.value("SELECT updated_at::text FROM chain_cursor")
            await watch.until(f"updated_at > '{seen}'")
