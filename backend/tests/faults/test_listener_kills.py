"""The listener, killed around each of its commits on a real chain that forks: whoever comes after makes the table equal the chain."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from multiprocessing.process import BaseProcess

import pytest

from glisk.chain.statements import statement
from tests.chains import AUTHOR, STRANGER, Chain, a_chain
from tests.cutter import Moment, cutter_before
from tests.forked import FORKS
from tests.listening import PACE, Watch, follow, following, watching

pytestmark = pytest.mark.faults

TIMES = 5 if os.environ.get("PROVE") else 1
PATIENT = replace(PACE, confirmations=4)
# What each of its transactions has that the others have not.
COMMITS = {
    "where it begins": "create_cursor",
    "the seat": "sit_down",
    "blocks at the tip": "heat",
    "tokens": "bear_tokens",
    "tokens that are there already": "attach",
    "a confirmed block": "left_behind",
    "a reorg": "leave",
}
MOMENTS = (Moment.BEFORE, Moment.AFTER, Moment.COMMITTED)


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
@pytest.mark.parametrize("commit", COMMITS)
@pytest.mark.parametrize("time", range(TIMES))
async def test_a_kill_around_a_commit_costs_nothing(database_url: str, commit: str, moment: Moment, time: int) -> None:
    async with a_chain() as chain, watching(database_url) as watch:
        await chain.deploy_collection()
        await killed_at(database_url, chain, watch, statement(COMMITS[commit]), moment)
        async with following(database_url, chain, pace=PATIENT):
            await chain.mint(AUTHOR)
            await buried(chain, watch)
        assert await watch.tokens(chain.contract) == await chain.mints()
        assert await watch.value("SELECT count(*) FROM tokens_s0 WHERE status <> 'orphaned'") == 7


async def killed_at(database_url: str, chain: Chain, watch: Watch, sql: str, moment: Moment) -> None:
    """Through a life that comes to every commit: mints, a reorg that brings some of them back, and blocks on top."""
    async with cutter_before(database_url) as (cutter, url):
        cutter.aim({sql}, moment)
        listener = FORKS.Process(target=listen, args=(url, chain.url, chain.contract))
        listener.start()
        story = asyncio.create_task(lived(chain, watch))
        await asyncio.wait(
            [story, cut := asyncio.create_task(cutter.has_cut.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        kill(listener)
        assert cut.done(), "it never came to that"
        story.cancel()
        await asyncio.gather(story, return_exceptions=True)
    await completed(chain)


async def lived(chain: Chain, watch: Watch) -> None:
    for _ in range(3):
        await chain.mint(AUTHOR, 2)
    await watch.until(f"tip_no >= {(await chain.head()).number}")
    await forked(chain)
    await buried(chain, watch)
    await asyncio.Event().wait()  # the commit that is aimed at may come after what was waited for


async def forked(chain: Chain) -> None:
    await chain.reorg(2, [(chain.mint_request(AUTHOR, 2), 0), (chain.mint_request(STRANGER, 2), 1)])
    await chain.mine()


async def buried(chain: Chain, watch: Watch) -> None:
    head = (await chain.head()).number
    await chain.mine(PATIENT.confirmations + 2)
    await watch.until(f"confirmed_no >= {head}")


async def completed(chain: Chain) -> None:
    """Wherever the story was broken off: the chain goes on to its end."""
    while len(await chain.mints()) < 6:
        await chain.mint(AUTHOR, 2)
    if not any(token.author == STRANGER for token in await chain.mints()):
        await forked(chain)


def listen(database_url: str, url: str, contract: str) -> None:
    asyncio.run(follow(database_url, url, contract, PATIENT))


def kill(process: BaseProcess) -> None:
    process.kill()
    process.join()
    process.close()
