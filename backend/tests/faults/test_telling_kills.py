"""kill -9 while something is told: whoever is told gets all of it, in order, and knows doubles by their id."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path
from typing import Any

import pytest

from glisk.settings import Settings
from glisk.telling import running
from tests.builders import a_token_row
from tests.forked import FORKS
from tests.integration.test_outbox import EVENT
from tests.receiver import SECRET, Hearer, hearing

RUNS = 60 if os.environ.get("PROVE") else 6
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
MOST_AT_ONCE = 30

pytestmark = pytest.mark.faults


def tell(url: str, hook: str) -> None:
    settings = Settings(data_dir=Path("."), webhook_url=hook, webhook_secret=SECRET)
    asyncio.run(running.tell(url, settings))


async def killed_while_telling(url: str, hearer: Hearer, more: int, *, unanswered: bool) -> None:
    """After so many more messages; `unanswered`: the last of them was taken, and nobody knows."""
    process = FORKS.Process(target=tell, args=(url, hearer.url))
    process.start()
    await hearer.has(len(hearer.heard) + more)
    if unanswered:
        hearer.is_slow = True
        await hearer.has(len(hearer.heard) + 1)
    process.kill()
    await asyncio.to_thread(process.join)
    hearer.is_slow = False
    hearer.let_go.set()
    hearer.let_go = asyncio.Event()


@pytest.mark.timeout(600)
async def test_whoever_is_killed_at_any_moment_has_left_nothing_out(database_url: str, connection: Any) -> None:
    dice, many = random.Random(SEED), MOST_AT_ONCE * (RUNS + 1)
    item = await a_token_row(connection)
    async with hearing() as hearer:
        await connection.execute(
            "INSERT INTO outbox (name, xact, event_id) VALUES ('tokens', pg_snapshot_xmin(pg_current_snapshot()), 0)"
        )
        await connection.executemany(EVENT, [(item, None, f"n{n}") for n in range(many)])
        for n in range(RUNS):
            more = dice.randint(1, MOST_AT_ONCE // 3)
            await killed_while_telling(database_url, hearer, more, unanswered=n % 2 == 0)
        last = FORKS.Process(target=tell, args=(database_url, hearer.url))
        last.start()
        while f"token.n{many - 1}" not in hearer.types:
            await hearer.has(len(hearer.heard) + 1)
        last.kill()
        await asyncio.to_thread(last.join)
        once = dict(zip(hearer.ids, hearer.types, strict=True))
    assert list(once.values()) == [f"token.n{n}" for n in range(many)], f"SEED={SEED}"
    assert RUNS // 2 <= len(hearer.ids) - many <= RUNS, "each death tells at most one of them twice"
    assert hearer.forged == 0
