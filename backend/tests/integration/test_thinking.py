"""Language tasks: by the embedded writer, by any server with OpenAI's chat API, by a model at Replicate; paid for once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from glisk.dev.standins import openai_control
from glisk.dev.standins.control import Control
from glisk.dev.standins.openai_chat import completion
from glisk.engine import control
from glisk.engine.link import Link
from glisk.settings import Settings
from glisk.workflows import JOBS
from tests.drawing import Atelier
from tests.engines import true
from tests.jobbing import Shop

SEA = "A quiet landscape at the edge of the sea, soft morning light"
PRICES = {"gpt-4.1-mini": {"input": "1", "output": "2"}}
LLAMA = "meta/meta-llama-3-8b-instruct"


@pytest.fixture
def chat() -> Iterator[Control]:
    with openai_control.in_thread() as held:
        yield held


def by_chat(shop: Shop, chat: Control, **changes: Any) -> Settings:
    usual: dict[str, Any] = {"llm_url": chat.url, "llm_api_key": SecretStr("sk-test"), "prices": PRICES}
    return shop.settings(**(usual | changes))


def by_replicate(shop: Shop, atelier: Atelier, **changes: Any) -> Settings:
    usual: dict[str, Any] = {"replicate_api_token": SecretStr("r8_test"), "replicate_url": atelier.standin.url}
    return shop.settings(**(usual | {"image_provider": "studio", "llm_provider": "replicate"} | changes))


async def outcomes(shop: Shop) -> list[str]:
    return [attempt["outcome"] for attempt in await shop.attempts()]


async def test_with_nothing_set_there_are_words_all_the_same(shop: Shop) -> None:
    row = await shop.done("llm_task", {"prompt": SEA}, name="title_and_description")
    assert (row["status"], row["progress"], row["result"]["model"]) == ("completed", 100, "writer-1")
    assert row["result"]["title"] == "Quiet Landscape at the Edge of the Sea"
    assert await shop.attempts() == []


@pytest.mark.parametrize(("name", "data"), [("paint", {}), ("complete", {}), ("complete", {"prompt": ""})])
async def test_what_nobody_can_do_fails_before_anybody_is_asked(
    shop: Shop, chat: Control, name: str, data: Any
) -> None:
    row = await shop.done("llm_task", data, by_chat(shop, chat), name=name)
    assert (row["status"], await shop.attempts(), chat.log("chat")) == ("failed", [], [])


async def test_a_server_with_the_chat_api_is_asked_and_paid(shop: Shop, chat: Control) -> None:
    row = await shop.done("llm_task", {"prompt": "Say hello", "max_tokens": 9}, by_chat(shop, chat), name="complete")
    assert (row["status"], row["result"]["text"], row["result"]["model"]) == ("completed", "Say hello", "gpt-4.1-mini")
    (attempt,) = await shop.attempts()
    assert (attempt["provider"], attempt["outcome"], attempt["step"]) == ("llm", "done", "active")
    assert str(attempt["cost"]) == "0.000027", "nine tokens read, nine written"
    assert chat.charges()["total"] == 1


async def test_an_answer_in_json_is_read(shop: Shop, chat: Control) -> None:
    said = completion("m", '```json\n{"title": "Dawn", "description": "A quiet sea."}\n```')
    chat.script(on="chat", body=bytes(said.body).decode())
    row = await shop.done("llm_task", {"prompt": SEA}, by_chat(shop, chat), name="title_and_description")
    assert (row["result"]["title"], row["result"]["description"]) == ("Dawn", "A quiet sea.")


async def test_an_answer_that_cannot_be_used_is_paid_and_asked_for_again(shop: Shop, chat: Control) -> None:
    row = await shop.done("llm_task", {"prompt": SEA}, by_chat(shop, chat), name="title_and_description")
    assert row["status"] == "failed"
    assert "The answer cannot be used" in row["error_message"]
    assert await outcomes(shop) == ["failed"] * 3
    assert all(attempt["cost"] > 0 for attempt in await shop.attempts())


@pytest.mark.parametrize(
    "fault", [{"drop": "after"}, {"drop": "mid_body"}, {"status_code": 500, "taken": True}, {"body": "{}"}]
)
async def test_a_question_whose_answer_was_lost_is_never_asked_twice(shop: Shop, chat: Control, fault: Any) -> None:
    chat.script(on="chat", **fault)
    row = await shop.done("llm_task", {"prompt": "Hello"}, by_chat(shop, chat), name="complete")
    assert row["status"] == "failed"
    assert "may have been charged" in row["error_message"]
    assert await outcomes(shop) == ["unknown"]
    assert chat.charges()["total"] == 1


async def test_a_question_that_never_arrived_waits_and_uses_no_attempt(shop: Shop, chat: Control) -> None:
    async with shop.open("llm_task", settings=by_chat(shop, chat, llm_url="http://127.0.0.1:9")):
        id = await shop.ask("llm_task", {"prompt": "Hello"}, name="complete")
        row = await shop.until(id, "error_message IS NOT NULL")
    assert (row["status"], row["retry_count"]) == ("waiting", 0)
    assert "cannot be reached" in row["error_message"]


async def test_what_another_worker_left_open_may_have_been_paid(shop: Shop, chat: Control) -> None:
    id = await shop.ask("llm_task", {"prompt": "Hello"}, name="complete")
    insert = (
        "INSERT INTO attempts (item_id, step, epoch, provider, seed, worker) VALUES ($1, 'active', 1, 'llm', 7, 'w')"
    )
    await shop.connection.execute(insert, id)
    async with shop.open("llm_task", settings=by_chat(shop, chat)):
        row = await shop.until(id)
    assert (row["status"], await outcomes(shop), chat.log("chat")) == ("failed", ["unknown"], [])
    assert "may have been charged" in row["error_message"]


async def test_a_wrong_key_holds_the_lane_and_fails_nobody(shop: Shop, chat: Control) -> None:
    async with shop.open("llm_task", settings=by_chat(shop, chat, llm_api_key=SecretStr("wrong"))):
        id = await shop.ask("llm_task", {"prompt": "Hello"}, name="complete")
        await true(shop.connection, "SELECT held_reason LIKE '%GLISK_LLM_API_KEY%' FROM lanes WHERE lane = 'llm'")
        row = await shop.until(id, "error_message IS NOT NULL")
    assert (row["status"], row["retry_count"]) == ("waiting", 0)


async def test_a_refusal_is_told(shop: Shop, chat: Control) -> None:
    chat.script(on="chat", body='{"choices": [{"message": {"refusal": "I will not."}}], "usage": {"prompt_tokens": 5}}')
    row = await shop.done("llm_task", {"prompt": "Hello"}, by_chat(shop, chat), name="complete")
    assert (row["status"], await outcomes(shop)) == ("failed", ["refused"])
    assert "I will not" in row["error_message"]


async def test_a_cancelled_task_may_have_been_paid(shop: Shop, chat: Control, link: Link) -> None:
    chat.script(on="chat", hold="gate")
    async with shop.open("llm_task", settings=by_chat(shop, chat)):
        id = await shop.ask("llm_task", {"prompt": "Hello"}, name="complete")
        await chat.reached("chat")
        await control.cancel(link, JOBS, [id], "anna")
        await true(shop.connection, "SELECT outcome = 'unknown' FROM attempts")


async def test_the_days_budget_counts_for_words_too(shop: Shop, chat: Control) -> None:
    async with shop.open("llm_task", settings=by_chat(shop, chat, daily_budget="0.0001")):
        await shop.ask("llm_task", {"prompt": "Hello"}, name="complete")
        await true(shop.connection, "SELECT held_reason LIKE '%budget%' FROM lanes WHERE lane = 'llm'")
    assert chat.log("chat") == []


async def test_a_language_model_at_replicate_is_asked(shop: Shop, atelier: Atelier) -> None:
    row = await shop.done("llm_task", {"prompt": "Say hello there"}, by_replicate(shop, atelier), name="complete")
    assert (row["result"]["text"], row["result"]["model"]) == ("Say hello there", LLAMA)
    (attempt,) = await shop.attempts()
    assert (attempt["provider"], attempt["outcome"]) == ("replicate", "done")
    assert attempt["receipt"]


async def test_a_lost_answer_of_replicate_is_found_again(shop: Shop, atelier: Atelier) -> None:
    atelier.standin.script(on="create", drop="after")
    row = await shop.done("llm_task", {"prompt": "Hello"}, by_replicate(shop, atelier), name="complete")
    assert (row["status"], atelier.created()) == ("completed", 1)


async def test_progress_is_seen_while_somebody_thinks(shop: Shop, chat: Control) -> None:
    chat.script(on="chat", hold="gate")
    async with shop.open("llm_task", settings=by_chat(shop, chat)):
        id = await shop.ask("llm_task", {"prompt": "Hello"}, name="complete")
        assert 0 < (await shop.until(id, "progress > 0"))["progress"] < 100
        chat.ask("release", {"hold": "gate"})
        assert (await shop.until(id))["progress"] == 100
