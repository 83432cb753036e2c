"""A process killed in the middle of a migration: the next one finishes the work, and no step is half done."""

from __future__ import annotations

import asyncio
import os
import random

import pytest

from glisk.db import migrate
from glisk.db.server import require_head
from tests.conftest import a_database
from tests.forked import killed_after

KILLS = 200 if os.environ.get("PROVE") else 5

pytestmark = pytest.mark.faults


@pytest.mark.timeout(1200)
def test_a_killed_migration_is_finished_by_the_next(server_url: str) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(KILLS):
        with a_database(server_url) as url:
            killed_after(chance.uniform(0.001, 0.2), migrate.upgrade, url)
            migrate.upgrade(url)
            asyncio.run(require_head(url))
            steps = [run.name for run in asyncio.run(migrate.status(url)).runs if run.ok]
            assert steps == sorted(set(steps)), "each step is recorded once, in order"
