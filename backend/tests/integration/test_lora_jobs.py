"""Weights that somebody names are fetched once, checked, and drawn with where that can be."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from pydantic import SecretStr

from glisk.dev.standins import sd_webui
from tests.drawing import Atelier
from tests.jobbing import Shop
from tests.strangers import answer, stranger
from tests.weights import weights

WEIGHTS = weights()
HASH = sha256(WEIGHTS).hexdigest()
OPEN: dict[str, Any] = {"fetch_allow": "127.0.0.0/8"}


async def test_weights_are_fetched_once_for_all_who_name_them(shop: Shop) -> None:
    async with stranger() as server, shop.open("lora_image", settings=shop.settings(**OPEN)):
        server.answers["/w"] = answer(WEIGHTS)
        wanted = {"prompt": "A cat", "lora_url": server.url("/w")}
        first = await shop.until(await shop.ask("lora_image", wanted))
        second = await shop.until(await shop.ask("lora_image", wanted | {"lora_weight": "0.5"}))
        third = await shop.until(
            await shop.ask("lora_image", wanted | {"lora_url": server.url("/x"), "lora_sha256": HASH})
        )
    assert {row["status"] for row in (first, second, third)} == {"completed"}
    assert len(server.heads) == 1
    assert (first["payload"]["lora"]["sha256"], second["payload"]["lora"]["weight"]) == (HASH, 0.5)
    assert first["progress"] == 100
    assert first["result"]["lora_applied"] is False, "the studio draws without"
    assert "without LoRA" in first["result"]["notice"]
    kept = [file.name for file in (shop.data_dir / "loras").glob("*.safetensors")]
    assert kept == [f"{HASH}.safetensors"]


@pytest.mark.parametrize(
    ("body", "more", "why"),
    [
        (b"<html>", {}, "no LoRA weights"),
        (WEIGHTS[:-1], {}, "no LoRA weights"),
        (WEIGHTS, {"lora_sha256": "0" * 64}, "have the hash"),
        (WEIGHTS, {"lora_sha256": "../../etc/passwd"}, "lora_sha256"),
        (WEIGHTS, {"lora_weight": 7}, "lora_weight"),
        (bytes(2 << 20), {}, "too large"),
    ],
)
async def test_what_is_no_weights_is_not_kept(shop: Shop, body: bytes, more: dict[str, Any], why: str) -> None:
    settings = shop.settings(**OPEN, lora_max_mb=1)
    async with stranger() as server:
        server.answers["/w"] = answer(body)
        row = await shop.done("lora_image", {"prompt": "A cat", "lora_url": server.url("/w"), **more}, settings)
    assert row["status"] == "failed"
    assert why in row["error_message"]
    assert list((shop.data_dir / "loras").glob("*")) == []


async def test_a_server_that_stumbles_is_asked_again_and_our_own_network_never(shop: Shop) -> None:
    async with stranger() as server:
        server.answers["/w"] = answer(status="503 Busy")
        wanted = {"prompt": "A cat", "lora_url": server.url("/w")}
        assert "503" in (await shop.done("lora_image", wanted, shop.settings(**OPEN)))["error_message"]
        assert len(server.heads) == 5
        assert "GLISK_FETCH_ALLOW" in (await shop.done("lora_image", wanted))["error_message"]
        assert len(server.heads) == 5


async def test_the_web_ui_is_told_of_them_where_it_finds_them(shop: Shop) -> None:
    stand_in = sd_webui.StandIn()
    async with stranger() as server, sd_webui.serving(stand_in) as url:
        server.answers["/w"] = answer(WEIGHTS)
        settings = shop.settings(**OPEN, sd_webui_url=url, lora_dir=str(shop.data_dir / "models"))
        row = await shop.done(
            "lora_image", {"prompt": "A cat", "lora_url": server.url("/w"), "lora_weight": 0.7}, settings
        )
    assert (row["status"], row["result"]["lora_applied"]) == ("completed", True)
    assert stand_in.orders[0].prompt == f"A cat <lora:{HASH}:0.7>"
    assert row["result"]["prompt_used"] == "A cat"


async def test_replicate_is_given_their_address(atelier: Atelier, shop: Shop) -> None:
    settings = shop.settings(
        **OPEN,
        image_size="1024x1024",
        replicate_api_token=SecretStr("r8_test"),
        replicate_url=atelier.standin.url,
        replicate_model="black-forest-labs/flux-dev-lora",
    )
    async with stranger() as server:
        server.answers["/w"] = answer(WEIGHTS)
        row = await shop.done("lora_image", {"prompt": "A cat", "lora_url": server.url("/w")}, settings)
    (prediction,) = atelier.standin.predictions()
    assert (row["status"], row["result"]["lora_applied"]) == ("completed", True)
    assert (prediction["input"]["lora_weights"], prediction["input"]["lora_scale"]) == (server.url("/w"), 1.0)


async def test_who_writes_weights_into_another_job_is_not_heard(shop: Shop) -> None:
    sneaked = {"name": "x", "url": "http://127.0.0.1/", "weight": 1}
    row = await shop.done("image_generation", {"prompt": "A cat", "lora": sneaked})
    assert (row["status"], "lora_applied" in row["result"]) == ("completed", False)
