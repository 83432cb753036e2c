"""Pictures are tagged: by what can be measured, or by a model that is paid once; and tokens carry tags if that is wanted."""

from __future__ import annotations

from typing import Any

import msgspec
from pydantic import SecretStr

from glisk.settings import Settings
from glisk.storage.objects import Objects
from tests import workshop
from tests.drawing import Atelier
from tests.engines import true
from tests.jobbing import Shop

CATS = {"prompt": "Two kittens at night"}


def by_model(atelier: Atelier, shop: Shop, **changes: Any) -> Settings:
    usual: dict[str, Any] = {"replicate_api_token": SecretStr("r8_test"), "replicate_url": atelier.standin.url}
    return shop.settings(**(usual | {"image_provider": "studio", "tagger_model": "glisk/tagger"} | changes))


async def test_a_picture_is_drawn_and_tagged(shop: Shop) -> None:
    row = await shop.done("danbooru_tagger", CATS)
    assert (row["status"], row["progress"]) == ("completed", 100)
    tags = {tag["name"]: tag["score"] for tag in row["result"]["tags"]}
    assert tags["cat"] == 0.9
    assert "lowres" in tags
    assert row["payload"]["tags"] == row["result"]["tags"]
    assert row["result"]["image_url"] == row["result_url"], "the picture is still told"
    assert [attempt["step"] for attempt in await shop.attempts()] == ["generating"], "measuring costs nothing"


async def test_a_model_at_replicate_tags_and_is_paid(shop: Shop, atelier: Atelier) -> None:
    settings = by_model(atelier, shop, prices={"glisk/tagger": {"image": "0.0005"}})
    row = await shop.done("danbooru_tagger", CATS, settings)
    assert row["result"]["tagger"] == "glisk/tagger"
    assert [tag["name"] for tag in row["result"]["tags"]] == ["cat", "night_sky", "1girl"]
    attempt = (await shop.attempts())[-1]
    assert (attempt["step"], attempt["provider"], attempt["outcome"]) == ("tagging", "replicate", "done")
    assert str(attempt["cost"]) == "0.000500"


async def test_a_tagger_whose_answer_was_lost_is_found_again_and_paid_once(shop: Shop, atelier: Atelier) -> None:
    atelier.standin.script(on="create", drop="after")
    row = await shop.done("danbooru_tagger", CATS, by_model(atelier, shop))
    assert row["status"] == "completed"
    assert atelier.created() == 1


async def test_tags_that_say_nothing_are_asked_for_again(shop: Shop, atelier: Atelier) -> None:
    atelier.standin.script(on="create", says=" ")
    row = await shop.done("danbooru_tagger", CATS, by_model(atelier, shop))
    assert row["status"] == "completed"
    assert [attempt["outcome"] for attempt in await shop.attempts()] == ["done", "failed", "done"]


async def test_without_its_picture_a_job_fails(shop: Shop) -> None:
    id = await shop.ask("danbooru_tagger", CATS)
    await shop.connection.execute("UPDATE jobs SET status = 'ready-for-tagging' WHERE id = $1", id)
    async with shop.open("danbooru_tagger"):
        assert "no picture to tag" in (await shop.until(id))["error_message"]


async def test_a_token_carries_the_tags_of_its_picture_and_never_its_prompt(shop: Shop, connection: Any) -> None:
    settings = shop.settings(token_tags=True)
    await workshop.minted(connection, 7, "Zebras in a forest")
    await workshop.minted(connection, 8, "A lighthouse")
    async with workshop.at_work(shop.url, settings):
        await true(connection, "SELECT count(*) = 2 FROM tokens_s0 WHERE status = 'ready'")
    rows = await connection.fetch("SELECT t.tags, p.object_key FROM tokens_s0 t JOIN pins p ON p.cid = t.metadata_cid")
    for row in rows:
        tags = msgspec.json.decode(row["tags"])
        assert 0 < len(tags) <= 6
        assert not {"zebras", "forest", "lighthouse", "no_humans"} & set(tags)
        metadata = msgspec.json.decode(await Objects.of(settings).get(row["object_key"]) or b"")
        assert [trait["value"] for trait in metadata["attributes"] if trait["trait_type"] == "Tag"] == tags


async def test_tokens_are_not_tagged_unless_that_is_wanted(shop: Shop, connection: Any) -> None:
    await workshop.minted(connection, 7)
    async with workshop.at_work(shop.url, shop.settings()):
        await true(connection, "SELECT count(*) = 1 FROM tokens_s0 WHERE status = 'ready'")
    assert await connection.fetchval("SELECT tags FROM tokens_s0") is None
