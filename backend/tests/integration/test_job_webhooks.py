"""Whoever left an address is told how their job ended: once, signed, and again until they take it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from glisk.engine import control
from glisk.engine.link import Link
from glisk.settings import Settings
from glisk.workflows import JOBS
from tests.jobbing import Shop
from tests.receiver import SECRET, Hearer, hearing
from tests.studio import open_studio

OPEN = "127.0.0.0/8"


def settings(shop: Shop, **changes: Any) -> Settings:
    return shop.settings(**({"fetch_allow": OPEN, "job_webhook_secret": SecretStr(SECRET)} | changes))


async def asked(shop: Shop, hearer: Hearer, payload: dict[str, Any]) -> tuple[int, int]:
    """A job, and the one that tells of it."""
    parent = await shop.ask("image_generation", payload)
    job_id = (await shop.row(parent))["job_id"]
    errand = {"url": hearer.url, "job_id": str(job_id)}
    return parent, await shop.ask("webhook", errand, parents=[parent], on_failure="ignore")


async def test_the_end_of_a_job_is_told_with_its_result(shop: Shop) -> None:
    async with hearing() as hearer, shop.open("image_generation", "webhook", settings=settings(shop)):
        parent, child = await asked(shop, hearer, {"prompt": "A cat"})
        told = await shop.until(child)
        row = await shop.row(parent)
    (heard,) = hearer.heard
    assert (told["status"], told["result"], hearer.forged) == ("completed", {"status": 200}, 0)
    assert heard["jobId"] == str(row["job_id"])
    assert (heard["workflow"], heard["status"], heard["error"]) == ("image_generation", "completed", None)
    assert heard["result"] == row["result"]
    assert heard["finishedAt"].startswith(str(row["finished_at"].date()))


async def test_who_asks_over_http_and_leaves_an_address_is_told(shop: Shop) -> None:
    async with (
        open_studio(shop.url, data_dir=shop.data_dir) as studio,
        hearing() as hearer,
        shop.open("r2_image", "webhook", settings=settings(shop)),
    ):
        job_id = await studio.job(webhookUrl=hearer.url, width=128, height=96)
        await hearer.has(1)
        result = (await studio.anna.get("/jobResult", params={"jobId": job_id})).json()
    assert (hearer.heard[0]["jobId"], hearer.heard[0]["status"], result["status"]) == (job_id, "ready", "completed")


async def test_a_failure_is_told_too(shop: Shop) -> None:
    async with hearing() as hearer, shop.open("image_generation", "webhook", settings=settings(shop)):
        _, child = await asked(shop, hearer, {})
        await shop.until(child)
    assert (hearer.heard[0]["status"], hearer.heard[0]["result"]) == ("failed", None)
    assert "Missing required prompt" in hearer.heard[0]["error"]


async def test_a_cancelled_job_is_told_of(shop: Shop, link: Link) -> None:
    async with hearing() as hearer:
        parent, child = await asked(shop, hearer, {"prompt": "A cat"})
        await control.cancel(link, JOBS, [parent], "anna")
        async with shop.open("webhook", settings=settings(shop)):
            await shop.until(child)
    assert hearer.heard[0]["status"] == "failed"


async def test_a_receiver_that_stumbles_hears_it_again_under_the_same_id(shop: Shop) -> None:
    async with hearing() as hearer, shop.open("image_generation", "webhook", settings=settings(shop)):
        hearer.status = 503
        _, child = await asked(shop, hearer, {})
        await hearer.has(2)
        hearer.status = 204
        told = await shop.until(child)
    assert told["status"] == "completed"
    assert len(set(hearer.ids)) == 1
    assert hearer.forged == 0


async def test_what_nobody_takes_ends_as_a_failure_a_person_can_see(shop: Shop) -> None:
    async with hearing() as hearer, shop.open("image_generation", "webhook", settings=settings(shop)):
        hearer.status = 307
        _, child = await asked(shop, hearer, {})
        told = await shop.until(child)
    assert (told["status"], len(hearer.heard)) == ("failed", 8)
    assert "answered 307" in told["error_message"]


async def test_who_wants_no_more_is_left_alone_at_once(shop: Shop) -> None:
    async with hearing() as hearer, shop.open("image_generation", "webhook", settings=settings(shop)):
        hearer.status = 410
        _, child = await asked(shop, hearer, {})
        told = await shop.until(child)
    assert (told["status"], len(hearer.heard)) == ("failed", 1)


async def test_our_own_network_is_not_told(shop: Shop) -> None:
    async with hearing() as hearer, shop.open("image_generation", "webhook", settings=settings(shop, fetch_allow="")):
        _, child = await asked(shop, hearer, {})
        told = await shop.until(child)
    assert (told["status"], told["retry_count"], hearer.heard) == ("failed", 0, [])
    assert "does not lead to a public server" in told["error_message"]


async def test_without_a_secret_of_its_own_the_operators_signs(shop: Shop) -> None:
    own = settings(shop, job_webhook_secret=SecretStr(""), webhook_secret=SecretStr(SECRET))
    async with hearing() as hearer, shop.open("image_generation", "webhook", settings=own):
        _, child = await asked(shop, hearer, {})
        await shop.until(child)
    assert hearer.forged == 0


async def test_a_job_of_another_owner_is_never_told(shop: Shop) -> None:
    await shop.connection.execute("INSERT INTO users (user_id) VALUES ('anna'), ('bert')")
    async with hearing() as hearer, shop.open("image_generation", "webhook", settings=settings(shop)):
        parent = await shop.until(await shop.ask("image_generation", {}, user_id="anna"))
        errand = {"url": hearer.url, "job_id": str(parent["job_id"])}
        told = await shop.until(await shop.ask("webhook", errand, user_id="bert"))
    assert (told["status"], hearer.heard) == ("failed", [])


@pytest.mark.parametrize("payload", [{}, {"url": "http://a"}, {"url": "http://a", "job_id": "7"}])
async def test_an_errand_that_cannot_be_read_fails(shop: Shop, payload: dict[str, Any]) -> None:
    assert (await shop.done("webhook", payload))["status"] == "failed"
