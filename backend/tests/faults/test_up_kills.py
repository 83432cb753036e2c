"""`glisk up` killed with -9 at any moment while the collector mints, and started again: every mint is revealed once, and paid for once."""

from __future__ import annotations

import os
import random
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from glisk.dev import postgres
from tests.chains import CONTRACTS, Chain, kept_in
from tests.commands import a_free_port, glisk, glisk_up, started, stopped
from tests.conftest import WATCHED
from tests.engines import true

KILLS = 20 if os.environ.get("PROVE") else 3
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
LONGEST_LIFE_S = 12.0
DRAWN = "SELECT item_id, count(*) FROM attempts WHERE step = 'generating' AND outcome = 'done' GROUP BY 1 HAVING count(*) <> 1"
ENDED = "SELECT bool_and(finished_at IS NOT NULL) FROM tokens_s0"
UNREVEALED = "SELECT token_id::text, generation_error FROM tokens_s0 WHERE status <> 'revealed'"

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120 + 30 * KILLS)]


async def test_every_mint_is_revealed_once_however_often_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(SEED)
    print(f"SEED={SEED}")
    (tmp_path / "contracts").symlink_to(CONTRACTS)
    monkeypatch.setenv("GLISK_PORT", str(a_free_port()))
    monkeypatch.setenv("GLISK_IMAGE_SIZE", "64x64")
    for _ in range(KILLS):
        live_and_die(tmp_path, dice.uniform(1, LONGEST_LIFE_S))
    with postgres.running(tmp_path / "glisk" / "postgres") as url:
        connection = await asyncpg.connect(url)
        await connection.execute(WATCHED)
        with glisk_up(tmp_path, "--no-mint") as (process, _):
            async with kept_in(tmp_path / "glisk" / "chain") as chain:
                await all_end(connection, chain)
                await those_under_suspicion_are_retried(connection, tmp_path)
                await all_is_well(connection, chain)
            stopped(process)
        await connection.close()


def live_and_die(cwd: Path, seconds: float) -> None:
    """By SIGKILL, wherever it is then."""
    with started("up", cwd=cwd) as process, suppress(subprocess.TimeoutExpired):
        raise AssertionError(f"it ended by itself: {process.wait(seconds)} {(cwd / 'up.log').read_text()[-2000:]}")


async def all_end(connection: Any, chain: Chain) -> None:
    await true(connection, f"SELECT count(*) = {len(await chain.mints())} FROM tokens_s0")
    await true(connection, ENDED)


async def those_under_suspicion_are_retried(connection: Any, cwd: Path) -> None:
    """A mint at which four processes in a row died is given up, as one that kills them would be: the alert says what to do."""
    given_up = dict(await connection.fetch(UNREVEALED))
    assert set(given_up.values()) <= {"Orphaned 4 times"}
    if given_up:
        retried = glisk("tokens", "retry", *given_up, "--yes", cwd=cwd)
        assert retried.returncode == 0, retried.stderr
        await true(connection, ENDED)


async def all_is_well(connection: Any, chain: Chain) -> None:
    minted = [each.token_id for each in await chain.mints()]
    assert await connection.fetch(UNREVEALED) == []
    assert [row[0] for row in await connection.fetch("SELECT token_id::bigint FROM tokens_s0 ORDER BY 1")] == minted
    assert await connection.fetch(DRAWN) == []
    assert sorted(await chain.updates()) == minted
    print(f"{len(minted)} mints, each revealed once")
