"""Whoever rests until it is woken can still be told to end, also in the very moment in which it is woken."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from glisk.chain.listener import Listener
from glisk.chain.pace import Pace


@pytest.mark.parametrize("turns", range(4))
async def test_a_listener_that_is_woken_and_cancelled_at_once_ends(turns: int) -> None:
    nobody: Any = None
    listener = Listener("", nobody, nobody, Pace(poll=timedelta(seconds=60)))
    resting = asyncio.create_task(listener.rest())
    for _ in range(3):
        await asyncio.sleep(0)
    listener.wake()
    for _ in range(turns):
        await asyncio.sleep(0)
    was_told = resting.cancel()  # not if it has ended by then
    await asyncio.wait([resting])
    assert resting.cancelled() == was_told
