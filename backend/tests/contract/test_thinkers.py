"""Whoever thinks answers the same task in words, says what it is, and tells nobody its key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from pydantic import SecretStr

from glisk.dev.standins import openai_control, replicate_control
from glisk.providers import thinker
from glisk.providers.answerer import Answerer
from glisk.providers.openai.chat import Chat
from glisk.providers.openai.reaching import Terms
from glisk.providers.port import Receipt
from glisk.providers.thinker import OFFICIAL, Task
from glisk.settings import Settings
from glisk.thinking.tasks import Complete, words_in
from tests.strangers import Stranger, answer, stranger

TASK = Task("complete", "Answer shortly.", "A lighthouse on a cliff", {"prompt": "A lighthouse on a cliff"}, 50)
SAID = b'{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}'
REPLICATE: dict[str, Any] = {"llm_provider": "replicate", "replicate_api_token": SecretStr("r8_test")}


async def keep(_: str) -> None:
    """Nobody comes after us."""


@pytest.fixture(params=["writer", "openai", "replicate"])
async def thinks(request: pytest.FixtureRequest) -> AsyncIterator[Answerer[Task]]:
    with openai_control.in_thread() as chat, replicate_control.in_thread() as replicate:
        settings = {
            "writer": Settings(llm_provider="writer"),
            "openai": Settings(llm_url=chat.url, llm_api_key=SecretStr("sk-test")),
            "replicate": Settings(**REPLICATE, replicate_url=replicate.url),
        }[request.param]
        found = thinker.thinker(settings)
        yield found
        await found.close()


async def test_a_task_is_answered_in_words(thinks: Answerer[Task]) -> None:
    found = await thinks.answer(TASK, Receipt(keep))
    assert "lighthouse on a cliff" in words_in(found.output)
    assert Complete("x").read(found.output)["text"]
    assert found.cost is None or found.cost == Decimal(0), "nobody has set a price"


async def test_it_has_a_name_a_model_and_words_for_the_ledger(thinks: Answerer[Task]) -> None:
    assert thinks.name
    assert thinks.model
    assert TASK.prompt in thinks.words(TASK)
    assert thinks.is_free is (thinks.name == "writer")


def test_without_settings_the_writer_thinks() -> None:
    assert thinker.thinker_name(Settings()) == "writer"
    assert thinker.thinker_name(Settings(llm_url="http://127.0.0.1:1")) == "openai"
    assert thinker.thinker_name(Settings(llm_api_key=SecretStr("sk-x"))) == "openai"


async def asked_by(server: Stranger, path: str, key: str) -> str:
    server.answers[f"{path}/v1/chat/completions"] = answer(SAID, content_type="application/json")
    chat = Chat(Terms(server.url(path), key, "m"))
    assert (await chat.answer(TASK, Receipt(keep))).output == "Hello"
    await chat.close()
    return server.heads[-1].decode().lower()


async def test_a_server_of_ones_own_is_asked_wherever_it_lies_and_needs_no_key() -> None:
    async with stranger() as server:
        assert "authorization" not in await asked_by(server, "", "")
        assert "authorization: bearer sk-1" in await asked_by(server, "/api", "sk-1")


def test_it_is_asked_in_its_own_words() -> None:
    own, official = Chat(Terms("http://127.0.0.1:1", "", "m")), Chat(Terms(OFFICIAL, "", "m"))
    assert own.body(TASK)["max_tokens"] == official.body(TASK)["max_completion_tokens"] == 50
    assert [said["role"] for said in own.body(TASK)["messages"]] == ["system", "user"]
    assert msgspec.json.encode(own.body(TASK))


def test_the_key_is_not_shown() -> None:
    assert "sk-secret" not in repr(Terms(OFFICIAL, "sk-secret", "m"))
