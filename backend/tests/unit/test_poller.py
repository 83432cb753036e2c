"""One poller for all predictions under way: it looks at many at once, believes no hint, and gives up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import timedelta

import pytest

from glisk.errors import ProviderError, ProviderFailed, RateLimited
from glisk.providers.replicate.poller import Looked, Poller, Rhythm
from glisk.providers.replicate.prediction import Prediction

QUICK = Rhythm(first=0.001, growth=1.0, longest=0.001)
NEVER = Rhythm(first=3600.0, longest=3600.0)


def a_prediction(id: str, status: str = "succeeded") -> Prediction:
    return Prediction(id, status, {}, None, None, "", 0.0, "")


class Provider:
    """What it says, look by look; the last word stands."""

    def __init__(self, *said: ProviderError | str) -> None:
        self.said, self.looks = list(said), list[set[str]]()

    async def look(self, ids: Collection[str]) -> Looked:
        self.looks.append(set(ids))
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(said, ProviderError):
            raise said
        return {id: a_prediction(id, said) for id in ids}


async def started() -> None:
    """Whatever can go on has gone on: nobody here waits for anything but the loop."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_it_waits_until_a_prediction_is_over() -> None:
    provider = Provider("starting", "processing", "succeeded")
    assert (await Poller(provider.look, QUICK).ended("a")).status == "succeeded"
    assert provider.looks == [{"a"}] * 3


async def test_many_are_looked_at_together() -> None:
    provider = Provider("processing", "succeeded")
    poller = Poller(provider.look, QUICK)
    ids = [str(n) for n in range(500)]
    found = await asyncio.gather(*map(poller.ended, ids))
    assert [prediction.id for prediction in found] == ids
    assert len(provider.looks) == 2


@pytest.mark.parametrize(
    "error", [ProviderFailed("502"), RateLimited("slow down", after=timedelta(milliseconds=1))], ids=["down", "429"]
)
async def test_a_look_that_fails_is_no_news(error: ProviderError) -> None:
    provider = Provider(error, error, "failed")
    assert (await Poller(provider.look, QUICK).ended("a")).status == "failed"


async def test_a_hint_only_makes_it_look() -> None:
    provider = Provider("processing", "succeeded")
    poller = Poller(provider.look, NEVER)
    waiting = asyncio.create_task(poller.ended("a"))
    await started()
    poller.hint("somebody else's")
    assert not provider.looks
    for n in (1, 2):
        poller.hint("a")
        await started()
        assert len(provider.looks) == n
    assert (await waiting).status == "succeeded"


async def test_what_is_gone_is_not_waited_for() -> None:
    async def look(ids: Collection[str]) -> Looked:
        return {id: ProviderFailed("gone") for id in ids}

    with pytest.raises(ProviderFailed, match="gone"):
        await Poller(look, QUICK).ended("a")


async def test_whoever_gives_up_is_forgotten_and_the_others_are_not() -> None:
    provider = Provider("processing", "succeeded")
    poller = Poller(provider.look, NEVER)
    tasks = [asyncio.create_task(poller.ended(id)) for id in ("a", "a", "b")]
    await started()
    for gone in (tasks[0], tasks[2]):
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
    assert set(poller.waiters) == {"a"}
    for _ in range(2):
        poller.hint("a")
        await started()
    assert (await tasks[1]).id == "a"
    assert not poller.waiters


async def test_a_poller_that_broke_leaves_nobody_waiting() -> None:
    async def look(ids: Collection[str]) -> Looked:
        raise KeyError("our mistake")

    poller = Poller(look, QUICK)
    with pytest.raises(asyncio.CancelledError):
        await poller.ended("a")
    await asyncio.gather(poller.task or asyncio.sleep(0), return_exceptions=True)
    provider = Provider("succeeded")
    poller.look = provider.look
    assert (await poller.ended("a")).status == "succeeded"
