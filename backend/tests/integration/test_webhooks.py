"""A webhook is a hint: with it a picture is there at once; without it, twice, or from a stranger, nothing is lost."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from glisk.api import webhooks
from glisk.api.app import create_app
from glisk.chain import waking
from glisk.engine import wakeup
from glisk.engine.link import Link
from glisk.engine.worker import Worker
from glisk.providers.replicate.poller import Rhythm
from glisk.settings import Settings
from glisk.storage.objects import Objects
from glisk.values import text
from tests.drawing import Atelier
from tests.serving import served
from tests.standins import a_client

KEY = "whsec_of_alchemy"
NEWS = b'{"type": "GRAPHQL", "event": {"data": {"block": {"number": 7}}}}'
NEVER = Rhythm(first=3600.0, longest=3600.0)
WHILE = Rhythm(first=0.2, longest=0.2)


@asynccontextmanager
async def told(atelier: Atelier, rhythm: Rhythm) -> AsyncIterator[tuple[str, Worker]]:
    """A server that takes webhooks in, and a worker that hears of them; it looks by itself only in that rhythm."""
    with a_client(atelier.standin) as client:
        secret = SecretStr(client.get("/v1/webhooks/default/secret").json()["key"])
    link, settings = Link(atelier.url), atelier.settings(replicate_webhook_secret=secret)
    app = create_app(Objects.of(settings), webhooks.replicate(text(secret), partial(wakeup.tell, link.fetch)))
    async with served(app) as address:
        settings = settings.model_copy(update={"public_url": address})
        async with atelier.at_work(settings, rhythm=rhythm) as worker:
            yield address, worker
    await link.close()


async def test_the_picture_is_there_without_asking_again_and_again(atelier: Atelier) -> None:
    atelier.standin.always(on="create", runs_for_s=0.1)
    async with told(atelier, NEVER):
        await atelier.token()
        await atelier.until("status = 'uploading'")
    assert len(atelier.standin.log("get")) + len(atelier.standin.log("list")) <= 2
    (webhook,) = atelier.standin.webhooks()
    assert webhook["status"] == 204


@pytest.mark.parametrize("how", ["twice", "reversed"])
async def test_one_that_comes_twice_or_out_of_order_changes_nothing(atelier: Atelier, how: str) -> None:
    atelier.standin.always(on="create", runs_for_s=0.1, webhook=how)
    async with told(atelier, NEVER):
        await atelier.token()
        await atelier.until("status = 'uploading'")
    assert (atelier.charged(), await atelier.outcomes()) == (1, ["done"])


async def test_one_that_never_comes_is_made_up_for_by_looking(atelier: Atelier) -> None:
    atelier.standin.always(on="create", runs_for_s=0.1, webhook="never")
    async with told(atelier, WHILE):
        await atelier.token()
        await atelier.until("status = 'uploading'")
    assert atelier.standin.webhooks() == []


async def test_a_stranger_is_not_listened_to(atelier: Atelier) -> None:
    async with told(atelier, NEVER) as (address, _), httpx.AsyncClient(base_url=address) as stranger:
        body = b'{"id": "abc", "status": "succeeded"}'
        answers = [
            await stranger.post("/webhooks/replicate", content=body),
            await stranger.post("/webhooks/replicate", content=body, headers={"webhook-signature": "v1,AAAA"}),
            await stranger.post("/webhooks/replicate", content=bytes(3 * 2**20)),
        ]
    assert [answer.status_code for answer in answers] == [401, 401, 413]


class Sleeper:
    """Whoever looks at the chain: counts how often it was woken. The first time is by itself, when it begins to listen."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[None] = asyncio.Queue()

    async def woken(self) -> None:
        await asyncio.wait_for(self.calls.get(), 10)


@asynccontextmanager
async def watched(
    database_url: str, objects: Objects, key: str = KEY
) -> AsyncIterator[tuple[httpx.AsyncClient, Sleeper]]:
    """A server that Alchemy may call, and in another corner a listener who listens."""
    link, sleeper = Link(database_url), Sleeper()
    listening = asyncio.create_task(waking.listen(database_url, lambda: sleeper.calls.put_nowait(None)))
    await sleeper.woken()
    app = create_app(objects, webhooks.alchemy(key, partial(waking.wake, link.fetch)))
    async with served(app) as address, httpx.AsyncClient(base_url=address) as client:
        yield client, sleeper
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await link.close()


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects.of(Settings(data_dir=tmp_path))


def signed(body: bytes, key: str = KEY) -> dict[str, str]:
    return {"X-Alchemy-Signature": hmac.new(key.encode(), body, "sha256").hexdigest()}


async def test_alchemy_makes_us_look_at_the_chain(database_url: str, objects: Objects) -> None:
    async with watched(database_url, objects) as (alchemy, sleeper):
        answer = await alchemy.post("/webhooks/alchemy", content=NEWS, headers=signed(NEWS))
        assert (answer.status_code, answer.content) == (204, b"")
        await sleeper.woken()


async def test_what_alchemy_says_is_of_no_interest(database_url: str, objects: Objects) -> None:
    async with watched(database_url, objects) as (alchemy, sleeper):
        for body in (b"", b"no JSON", b"\xff"):
            assert (await alchemy.post("/webhooks/alchemy", content=body, headers=signed(body))).status_code == 204
            await sleeper.woken()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Alchemy-Signature": ""},
        {"X-Alchemy-Signature": "not hex"},
        {"X-Alchemy-Signature": "\xe9".encode("latin-1")},
        signed(NEWS, "another key"),
        signed(NEWS, ""),
        signed(NEWS + b" "),
    ],
    ids=["none", "empty", "no hex", "no ASCII", "another key", "no key", "another body"],
)
async def test_nobody_else_makes_us_look(headers: dict[str, str | bytes], database_url: str, objects: Objects) -> None:
    async with watched(database_url, objects) as (stranger, sleeper):
        sent = [(name, value if isinstance(value, bytes) else value.encode()) for name, value in headers.items()]
        request = stranger.build_request("POST", "/webhooks/alchemy", content=NEWS)
        request.headers = httpx.Headers([*request.headers.raw, *((name.encode(), value) for name, value in sent)])
        assert (await stranger.send(request)).status_code == 401
        assert (await stranger.post("/webhooks/alchemy", content=NEWS, headers=signed(NEWS))).status_code == 204
        await sleeper.woken()  # by the right one,
        assert sleeper.calls.empty()  # and by nobody before it


async def test_without_a_key_nobody_can_be_told_apart(database_url: str, objects: Objects) -> None:
    async with watched(database_url, objects, key="") as (anybody, _):
        for headers in ({}, signed(NEWS, "")):
            assert (await anybody.post("/webhooks/alchemy", content=NEWS, headers=headers)).status_code == 401


async def test_what_is_too_large_to_be_news_is_not_read_to_its_end(database_url: str, objects: Objects) -> None:
    async with watched(database_url, objects) as (alchemy, _):
        large = bytes(3 * 2**20)
        assert (await alchemy.post("/webhooks/alchemy", content=large, headers=signed(large))).status_code == 413
