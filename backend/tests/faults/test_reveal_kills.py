"""kill -9 wherever it hurts while tokens are revealed: each is revealed once, and every wei that was paid is in the ledger."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest

from glisk.chain.rpc.classify import SEND
from glisk.chain.sending.asking import TOKEN_URI
from glisk.chain.statements import statement
from glisk.engine import statements as engine
from tests.chains import Chain, a_chain
from tests.cutter import Cutter, Moment, cutter_before
from tests.forked import FORKS
from tests.relay import Picks, Relay, Stop, asks, relay_before
from tests.revealing import BLOCK_TIME, STEADY, Stage, unpacked

RUNS = 50 if os.environ.get("PROVE") else 5
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
SHORT = replace(STEADY, lease=timedelta(seconds=1))

pytestmark = pytest.mark.faults


@dataclass(slots=True)
class Scene:
    """A stage whose workers reach the chain and the database through proxies, and those that live."""

    stage: Stage
    relay: Relay
    cutter: Cutter
    url: str
    dice: random.Random
    batch: int
    alive: list[BaseProcess] = field(default_factory=list)

    def staff(self, n: int) -> None:
        while len(self.alive) < n:
            site = (self.url, self.relay.port, self.stage.contract, self.stage.data_dir, self.batch)
            process = FORKS.Process(target=reveal_in_fork, args=site)
            process.start()
            self.alive.append(process)

    def kill_one(self) -> None:
        """Of two, whichever: one that was stopped and is not killed goes on."""
        kill(self.alive.pop(self.dice.randrange(len(self.alive))))
        self.relay.let_go()
        self.cutter.is_armed = False


def reveal_in_fork(*site: Any) -> None:
    asyncio.run(reveal(*site))


async def reveal(url: str, port: int, contract: str, data_dir: Path, batch: int) -> None:
    stage = Stage(url, None, Chain(port, cast(Any, None)), data_dir, contract)  # only its address is asked for
    async with stage.at_work(stage.settings(reveal_batch=batch), pace=SHORT, name=f"fork-{os.getpid()}"):
        await asyncio.Event().wait()


def kill(process: BaseProcess) -> None:
    process.kill()
    process.join()
    process.close()


# The points. Each returns when its moment has come, and makes it last.

Point: TypeAlias = Callable[[Scene], Awaitable[Any]]


def asked(picks: Picks, stop: Stop) -> Point:
    def come(scene: Scene) -> Awaitable[Any]:
        scene.relay.aim(picks, stop)
        return scene.relay.has_stopped.wait()

    return come


def written(sql: str, moment: Moment) -> Point:
    def come(scene: Scene) -> Awaitable[Any]:
        scene.cutter.has_cut = asyncio.Event()
        scene.cutter.aim({sql}, moment)
        return scene.cutter.has_cut.wait()

    return come


def any_time(scene: Scene) -> Awaitable[Any]:
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(scene.dice.uniform(0.05, 1.5), over.set)
    return over.wait()


def has_receipt(_: Any, answer: bytes) -> bool:
    return b"effectiveGasPrice" in answer


def is_read_back(questions: Any, _: bytes) -> bool:
    return all(each["method"] == "eth_call" and each["params"][0]["data"].startswith(TOKEN_URI) for each in questions)


POINTS: dict[str, Point] = {
    "batch forming": asked(asks("eth_estimateGas"), Stop.BEFORE),
    "before sign": asked(lambda some, _: "eth_getBalance" in str(some), Stop.AFTER),
    "in the middle of storing": written(statement("take_nonce"), Moment.AFTER),
    "stored, and nobody was told": written(statement("store_transaction"), Moment.COMMITTED),
    "after store": asked(asks(SEND), Stop.BEFORE),
    "after broadcast": asked(asks(SEND), Stop.AFTER),
    "mined": asked(has_receipt, Stop.AFTER),
    "in the middle of writing that it is mined": written(statement("mine"), Moment.AFTER),
    "it is written that it is mined": written(statement("mine"), Moment.COMMITTED),
    "before settle": asked(is_read_back, Stop.AFTER),
    "in the middle of settling": written(engine.statement("record_attempt"), Moment.AFTER),
    "settled, and nobody was told": written(engine.statement("record_attempt"), Moment.COMMITTED),
    "any": any_time,
}
KILLS = 3  # and one more, at any time


@pytest.mark.parametrize("run", range(RUNS))
async def test_workers_killed_anywhere_reveal_each_token_once(
    run: int, database_url: str, connection: Any, tmp_path: Path
) -> None:
    dice = random.Random(SEED + run)
    points, tokens, batch = [*some_points(run, dice), "any"], dice.randint(20, 60), dice.randint(3, 8)
    print(f"SEED={SEED} run={run} points={points} tokens={tokens} batch={batch}")
    async with a_scene(database_url, connection, tmp_path, dice, batch) as scene:
        await scene.stage.minted(tokens)
        before = await scene.stage.balance()
        reached = [await killed_at(POINTS[name], scene, tokens) for name in points]
        assert reached[0] or points[0] == "any", "nobody came to that"
        while scene.alive:
            scene.kill_one()
        through = replace(scene.stage, chain=Chain(scene.relay.port, scene.stage.chain.client))
        await through.revealed(tokens, through.settings(reveal_batch=batch), pace=SHORT, name="last")
        await all_is_well(scene, tokens, before)


def some_points(run: int, dice: random.Random) -> list[str]:
    """The first runs come to all of them."""
    named = list(POINTS)
    return named[run * KILLS :][:KILLS] if run * KILLS < len(named) else dice.choices(named, k=KILLS)


@asynccontextmanager
async def a_scene(url: str, connection: Any, path: Path, dice: random.Random, batch: int) -> AsyncIterator[Scene]:
    async with a_chain(BLOCK_TIME) as chain, relay_before(chain.url) as relay, cutter_before(url) as (cutter, cut_url):
        stage = Stage(url, connection, chain, path / "data", await chain.deploy_collection())
        scene = Scene(stage, relay, cutter, cut_url, dice, batch)
        try:
            yield scene
        finally:
            for process in scene.alive:
                kill(process)


async def killed_at(point: Point, scene: Scene, tokens: int) -> bool:
    """False: all was done before it came to that."""
    coming = asyncio.ensure_future(point(scene))
    done = asyncio.ensure_future(scene.stage.until("status = 'revealed'", tokens))
    scene.staff(scene.dice.choice((1, 2)))
    await asyncio.wait([coming, done], return_when=asyncio.FIRST_COMPLETED)
    scene.kill_one()
    is_there = coming.done()
    for task in (coming, done):
        task.cancel()
    await asyncio.gather(coming, done, return_exceptions=True)
    await scene.stage.connection.execute("UPDATE tokens_s0 SET reclaims = 0")  # none of them is the reason
    return is_there


async def all_is_well(scene: Scene, tokens: int, before: int) -> None:
    stage = scene.stage
    assert await stage.value("SELECT count(*) FROM tokens_s0 WHERE status = 'revealed' AND retry_count = 0") == tokens
    assert await stage.uris(1, tokens) == [f"ipfs://metadata-{n}" for n in range(1, tokens + 1)]
    assert sorted(await stage.updates()) == list(range(1, tokens + 1))
    assert await stage.skipped() == 0
    nonces = await stage.rows("SELECT nonce, outcome, data, recipient FROM chain_nonce ORDER BY nonce")
    assert [row["nonce"] for row in nonces] == list(range(await stage.nonce()))
    assert {row["outcome"] for row in nonces} == {"done"}
    wanted = {row["nonce"]: (row["recipient"], row["data"]) for row in nonces}
    assert await stage.mined() == wanted
    assert {unpacked(raw) for raw in scene.relay.sent} <= set(wanted.items())
    spent = before - await stage.balance()
    assert await stage.value("SELECT sum(paid_wei) FROM chain_tx WHERE state = 'mined'") == spent
    assert await stage.value("SELECT sum(wei) FROM attempts WHERE step = 'revealing'") == spent
    assert await stage.rows("SELECT outcome, count(*) FROM attempts GROUP BY 1") == [
        {"outcome": "done", "count": tokens}
    ]
