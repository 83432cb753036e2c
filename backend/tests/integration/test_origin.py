"""What the ledger knows of a picture, and the file that is made of it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from glisk.engine import ledger
from glisk.engine.link import Link
from glisk.publishing.manifest import checked
from glisk.publishing.metadata import metadata_of, provenance_wallet
from glisk.publishing.origin import origin_of
from glisk.settings import Settings
from tests.builders import CHAIN, CONTRACT, DRAWN, IMAGE, a_token_row

LARGEST = 2**256 - 1
AUTHOR = "0x" + "ab" * 20


async def drawn(link: Link, item: int, outcome: Any = "done", **terms: Any) -> None:
    asked = {"provider": "replicate", "model": f"owner/name:{'ab' * 32}", "seed": 5, "prompt": "A fox", **terms}
    attempt = await ledger.open_attempt(
        *(link.fetch, item, "generating", 1), worker="w", **{"prompt_source": "author", **asked}
    )
    await ledger.record(link.fetch, attempt.id, outcome, receipt=f"receipt of {asked['prompt']}", cost=Decimal(0))


async def test_it_is_what_the_accepted_attempt_asked_for(link: Link, connection: Any) -> None:
    item = await a_token_row(connection, **DRAWN)
    await drawn(link, item, prompt="A first one")
    await drawn(link, item, "refused", prompt="Too bold")
    await drawn(link, item, prompt="Kittens", prompt_source="fallback", seed=0)
    await drawn(link, item, "failed", prompt="A last one")
    origin = await origin_of(link.fetch, item)
    assert (origin.provider, origin.model, origin.version) == ("replicate", "owner/name", "ab" * 32)
    assert (origin.prompt, origin.prompt_source, origin.seed) == ("Kittens", "fallback", 0)
    assert (origin.receipt, origin.author, origin.choice) == ("receipt of Kittens", AUTHOR, None)
    finished = await connection.fetchval("SELECT finished_at FROM attempts WHERE prompt = 'Kittens'")
    assert origin.made_at == finished


async def test_the_version_is_the_one_that_the_provider_names(link: Link, connection: Any) -> None:
    item = await a_token_row(connection, **DRAWN)
    await drawn(link, item, model="owner/name")
    assert (await origin_of(link.fetch, item)).version == ""
    await connection.execute("""UPDATE attempts SET details = '{"version": "dp-7"}'""")
    assert (await origin_of(link.fetch, item)).version == "dp-7"


async def test_a_picture_that_came_another_way_is_unknown(link: Link, connection: Any) -> None:
    item = await a_token_row(connection, image_url=IMAGE)
    origin = await origin_of(link.fetch, item)
    assert (origin.provider, origin.model, origin.version) == ("", "", "")
    assert (origin.prompt, origin.prompt_source, origin.seed, origin.receipt) == (None, None, None, None)
    assert origin.made_at == await connection.fetchval("SELECT detected_at FROM tokens_s0")


@pytest.mark.parametrize("choice", [None, "now", "later", "never"])
async def test_the_file_is_the_same_every_time_and_sound(
    choice: str | None, link: Link, connection: Any, tmp_path: Path
) -> None:
    item = await a_token_row(connection, LARGEST, **DRAWN, tags=json.dumps(["fox", "night"]))
    await drawn(link, item)
    await connection.execute("UPDATE authors SET prompt_disclosure = $1", choice)
    (row,) = await link.fetch("SELECT * FROM tokens_s0")
    settings = Settings(data_dir=tmp_path)
    wallet = provenance_wallet(settings)
    data, salt = await metadata_of(link.fetch, row, "bafyimage", settings, wallet)
    is_same = (data, salt) == await metadata_of(link.fetch, row, "bafyimage", settings, wallet)
    assert is_same == (choice != "never"), "nobody can compute the salt of what is never told"
    metadata = json.loads(data)
    assert checked(metadata, CHAIN, CONTRACT, LARGEST) == wallet.address.lower()
    assert [trait["value"] for trait in metadata["attributes"]] == [AUTHOR, "owner/name", "fox", "night"]
    assert (metadata["name"], metadata.get("prompt")) == (f"Glisk #{LARGEST}", "A fox" if choice == "now" else None)
    assert (salt is None) == (choice == "never")
