"""A webhook is a hint: with it a picture is there at once; without it, twice, or from a stranger, nothing is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import httpx
import pytest
from pydantic import SecretStr

from glisk.api.app import create_app
from glisk.engine import wakeup
from glisk.engine.link import Link
from glisk.engine.worker import Worker
from glisk.providers.replicate.poller import Rhythm
from glisk.settings import text
from glisk.storage.objects import Objects
from tests.drawing import Atelier
from tests.serving import served
from tests.standins import a_client

NEVER = Rhythm(first=3600.0, longest=3600.0)
WHILE = Rhythm(first=0.2, longest=0.2)


@asynccontextmanager
async def told(atelier: Atelier, rhythm: Rhythm) -> AsyncIterator[tuple[str, Worker]]:
    """A server that takes webhooks in, and a worker that hears of them; it looks by itself only in that rhythm."""
    with a_client(atelier.standin) as client:
        secret = SecretStr(client.get("/v1/webhooks/default/secret").json()["key"])
    link, settings = Link(atelier.url), atelier.settings(replicate_webhook_secret=secret)
    app = create_app(Objects.of(settings), text(secret), partial(wakeup.tell, link.fetch))
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
