"""The real listener against a chain that forks and nodes that lie, until they settle: no mint is missed, none is a ghost.

SEED=123 make test T=tests/faults/test_chain_simulation.py runs one seed again. The tree, the nodes and what goes wrong come from
the seed; which request is asked first, and where a restart falls between two, also from the machine: a seed replays nearly.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from glisk.chain.listener import Listener
from glisk.chain.mint import Contract
from glisk.chain.pace import Pace
from glisk.chain.rpc.limits import Limits
from glisk.chain.rpc.pool import Rpc
from tests.builders import DRAWN
from tests.listening import Watch, watching
from tests.simulator import ledger, naive
from tests.simulator.log import Order
from tests.simulator.nodes import Nodes, drawn
from tests.simulator.server import served
from tests.simulator.tree import ADDRESS, CHAIN, DEPLOYED, WALLETS, Tree

SEEDS = [int(os.environ["SEED"])] if "SEED" in os.environ else range(200 if os.environ.get("PROVE") else 20)
CONTRACT = Contract(CHAIN, ADDRESS)
BRIEF = timedelta(milliseconds=2)
# The same faults as in life, and rests after them that a test can wait for.
LIMITS = Limits(
    request=timedelta(seconds=0.15),
    rest=BRIEF,
    longest_rest=2 * BRIEF,
    cooldown=BRIEF,
    longest_cooldown=2 * BRIEF,
    rate=1e6,
    slowest_rate=1e6,
)
PATIENCE = 60  # seconds until a listener that does not get on is given up
OTHERS = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'test'"""

pytestmark = pytest.mark.faults


class Crew:
    """Whoever listens: one, sometimes two, and after a mishap another."""

    def __init__(self, database_url: str, url: str, pace: Pace, start: int | None) -> None:
        self.database_url, self.url, self.pace, self.start = database_url, url, pace, start
        self.running: list[asyncio.Task[None]] = []
        self.errors, self.failed = list[Exception](), asyncio.Event()

    def hire(self) -> None:
        self.running.append(asyncio.create_task(self.work()))

    async def work(self) -> None:
        rpc = Rpc(CHAIN, [self.url], limits=LIMITS)
        try:
            await Listener(self.database_url, rpc, CONTRACT, self.pace, start=self.start).run()
        except Exception as error:  # noqa: BLE001 (whatever ends a listener is a finding)
            self.errors.append(error)
            self.failed.set()
        finally:
            await rpc.close()

    async def dismiss(self, which: int = 0) -> None:
        task = self.running.pop(which)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
async def watch(database_url: str) -> AsyncIterator[Watch]:
    async with watching(database_url) as watch:
        yield watch


@asynccontextmanager
async def listening(database_url: str, nodes: Nodes, pace: Pace, start: int | None = DEPLOYED) -> AsyncIterator[Crew]:
    async with served(nodes) as url:
        crew = Crew(database_url, url, pace, start)
        crew.hire()
        try:
            yield crew
        finally:
            while crew.running:
                await crew.dismiss()


def a_pace(luck: random.Random) -> Pace:
    """At least as many confirmations as the deepest reorg has blocks."""
    quick = timedelta(milliseconds=2)
    return Pace(luck.choice((10, 12)), quick, luck.choice((8, 64)), luck.choice((1, 8)), 50 * quick, 5 * quick)


@pytest.mark.parametrize("seed", SEEDS)
async def test_no_mint_is_missed_and_none_is_a_ghost(seed: int, database_url: str, watch: Watch) -> None:
    luck, nodes = random.Random(f"mishaps {seed}"), drawn(seed)
    start = luck.choice((0, DEPLOYED - 3, DEPLOYED, None))
    async with listening(database_url, nodes, pace := a_pace(luck), start) as crew:
        ways = lived(crew, nodes, luck, watch), watch.until("halted IS NOT NULL"), crew.failed.wait()
        await first_of(*ways)
    found = [*map(repr, crew.errors), *await ledger.differences(watch.connection, nodes)]
    assert not found, report(seed, nodes, pace, start, found)


async def first_of(*ways: Coroutine[Any, Any, Any]) -> None:
    """Which end a run takes; or none, in time. Raises what it raised."""
    tasks = [asyncio.create_task(way) for way in ways]
    done, _ = await asyncio.wait(tasks, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def lived(crew: Crew, nodes: Nodes, luck: random.Random, watch: Watch) -> None:
    """With mishaps, until everything that was lied about is confirmed."""
    for step in sorted(luck.sample(range(1, nodes.steps), luck.randint(2, 6))):
        await nodes.reached(step)
        await mishap(crew, nodes, luck, watch)
    await watch.until(f"confirmed_no >= {await nodes.settled()} AND alarm IS NULL")


async def mishap(crew: Crew, nodes: Nodes, luck: random.Random, watch: Watch) -> None:
    match luck.choice(("restart", "second", "cut all", "cut one")):
        case "restart":
            await crew.dismiss()
            crew.hire()
        case "second":
            crew.hire()
            await nodes.reached(nodes.step + luck.randint(1, 10))
            await crew.dismiss(luck.randrange(2))
        case "cut all":
            await cut(watch, None)
        case "cut one":
            await cut(watch, luck)


async def cut(watch: Watch, luck: random.Random | None) -> None:
    pids = [row["pid"] for row in await watch.fetch(OTHERS)]
    for pid in luck.sample(pids, min(1, len(pids))) if luck else pids:
        await watch.fetch("SELECT pg_terminate_backend($1)", pid)


def report(seed: int, nodes: Nodes, pace: Pace, start: int | None, found: list[str]) -> str:
    lines = [
        f"seed {seed}: {len(found)} differences",
        *found[:12],
        f"{nodes.tree.kind}; {pace}; start {start}; settled at {nodes.settled_at} after {nodes.steps} steps; {dict(nodes.tally)}",
        f"again: SEED={seed} make test T=tests/faults/test_chain_simulation.py",
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(3))
async def test_the_simulator_catches_a_naive_follower(seed: int) -> None:
    nodes = drawn(seed)
    async with served(nodes) as url:
        found = await naive.follow(url, nodes, end=12)
    truth = {token_id: mint.tx for token_id, mint in nodes.tree.canonical_mints(nodes.settled_at or 0).items()}
    assert any(found.get(token_id) != tx for token_id, tx in truth.items())


PACE = Pace(10, BRIEF, standby=10 * BRIEF, sure_after=BRIEF)
TOKENS = "SELECT token_id, status, author_id, mint_block_hash, mint_log, image_key FROM tokens_s0 ORDER BY token_id"
TOKEN = "SELECT *, (SELECT wallet_address FROM authors WHERE author_id = t.author_id) AS author FROM tokens_s0 t"
DRAW = """
    UPDATE tokens_s0 SET status = 'uploading', image_url = $1, image_key = $2, image_sha256 = $3, image_mime = $4
    WHERE token_id = 1"""


class Stage:
    """A chain that moves when it is told, and nodes that tell the truth about it."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.tree = Tree(1, is_busy=False)
        self.nodes = Nodes(self.tree, is_moving=False)

    async def grow(self, *blocks: list[Order]) -> None:
        for orders in blocks:
            self.tree.grow(orders)
        await self.read()

    async def replace(self, depth: int, *blocks: list[Order]) -> None:
        self.tree.reorganise(depth, blocks)
        await self.read()

    async def read(self) -> None:
        """Until the listener has seen it."""
        self.nodes.spread()
        await self.watch.until(f"tip_hash = '\\x{self.tree.head.hash.hex()}'")

    async def confirm(self) -> None:
        height = self.tree.head.number
        await self.grow(*[[]] * 2 * PACE.confirmations)
        await self.watch.until(f"confirmed_no >= {height}")

    async def token(self) -> Any:
        (row,) = await self.watch.fetch(TOKEN)
        return row


async def test_a_reorg_below_what_was_confirmed_halts_and_changes_nothing(database_url: str, watch: Watch) -> None:
    stage = Stage(watch)
    async with listening(database_url, stage.nodes, PACE):
        await stage.grow([stage.tree.order(3)], [stage.tree.order(2)])
        await stage.confirm()
        before = await watch.fetch(TOKENS)
        stage.tree.reorganise(2 * PACE.confirmations + 2, [[]] * 30)
        stage.nodes.spread()
        cursor = await watch.until("halted IS NOT NULL")
    assert await watch.fetch(TOKENS) == before
    assert len(before) == 5
    assert "confirmed" in cursor["halted"]
    told = await watch.fetch(
        "SELECT data->>'reason' AS reason FROM events WHERE to_status = 'halted' AND item_id IS NULL"
    )
    assert [row["reason"] for row in told] == [cursor["halted"]]


async def test_a_reorg_is_told_on_the_timeline(database_url: str, watch: Watch) -> None:
    stage = Stage(watch)
    async with listening(database_url, stage.nodes, PACE):
        await stage.grow([], [stage.tree.order(3)], [])
        tip = stage.tree.head.number
        await stage.replace(2, [], [], [])
    (told,) = await watch.fetch(
        "SELECT data FROM events WHERE to_status = 'reorg' AND item_id IS NULL AND actor = 'listener'"
    )
    expected = {"chain_id": CHAIN, "contract": ADDRESS, "ancestor": tip - 2, "depth": 2, "tip": tip, "orphaned": 3}
    assert json.loads(told["data"]) == expected


async def test_a_token_mined_again_for_its_author_keeps_its_picture(database_url: str, watch: Watch) -> None:
    stage = Stage(watch)
    async with listening(database_url, stage.nodes, PACE):
        await stage.grow([order := stage.tree.order(1)])
        await watch.fetch(DRAW, *DRAWN.values())
        await stage.replace(1, [], [order])
        await stage.confirm()
        token = await stage.token()
    assert (token["status"], token["image_key"]) == ("uploading", DRAWN["image_key"])
    assert token["mint_block"] == DEPLOYED + 2


async def test_a_token_mined_again_for_another_author_is_drawn_anew(database_url: str, watch: Watch) -> None:
    stage = Stage(watch)
    async with listening(database_url, stage.nodes, PACE):
        await stage.grow([order := stage.tree.order(1)])
        await watch.fetch(DRAW, *DRAWN.values())
        other = replace(order, tx=stage.tree.tx(99), author=next(w for w in WALLETS if w != order.author))
        await stage.replace(1, [other], [])
        token = await stage.token()
    assert (token["status"], token["image_key"], token["author"]) == ("detected", None, other.author)
    archived = await watch.fetch("SELECT data FROM events WHERE data ? 'archived'")
    assert [json.loads(row["data"])["archived"]["image_key"] for row in archived] == [DRAWN["image_key"]]


async def test_a_token_that_is_not_mined_again_is_orphaned_when_that_is_sure(database_url: str, watch: Watch) -> None:
    stage = Stage(watch)
    async with listening(database_url, stage.nodes, PACE):
        await stage.grow([stage.tree.order(1)])
        await stage.replace(1, [], [])
        assert (await stage.token())["status"] == "detected"
        await stage.confirm()
        assert (await stage.token())["status"] == "orphaned"
