"""Puts the parts together that read a chain: the listener, and what commands ask nodes for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import structlog
from msgspec import Struct

from glisk import addresses
from glisk.chain import nodes, waking
from glisk.chain.listener import Listener
from glisk.chain.mint import Contract
from glisk.chain.nodes import Nodes
from glisk.chain.pace import Pace
from glisk.chain.rpc.call import NotThere, RpcTrouble
from glisk.chain.rpc.heads import heads
from glisk.chain.rpc.pool import Rpc
from glisk.chain.together import until_one_ends
from glisk.db.server import require_head
from glisk.dev import data_dir
from glisk.errors import RpcBehind, RpcUnreachable
from glisk.service import Say, database, timed, where_database
from glisk.settings import Settings
from glisk.telling.running import beside
from glisk.values import NodeUrls, text
from glisk.workers.signals import INTERRUPTED, die_after, on_signals

log = structlog.get_logger()
T = TypeVar("T")

EMBEDDED_CONFIRMATIONS, EMBEDDED_LINGER_S = 1, 1.0
FIRST_REST_S, LONGEST_REST_S = 1.0, 30.0
GRACE_S = 10.0  # to close what is open


class Source(Struct, frozen=True):
    """What is followed, and who is asked about it."""

    urls: list[str]
    contracts: list[tuple[int | None, str]]
    start: int | None
    pace: Pace


def listen(settings: Settings, say: Say) -> None:
    """Follows every contract, on a schema that somebody else has migrated, until a signal."""
    with timed(say, where_database(settings)) as done, database(settings) as url:
        asyncio.run(require_head(url))
        done()
        with timed(say, where_chain(settings)) as done, source(settings) as found:
            done()
            asyncio.run(until_signal(beside(url, settings, follow(url, found, say))))


@contextmanager
def source(settings: Settings) -> Iterator[Source]:
    """The operator's nodes, else the embedded development chain."""
    with with_chain(settings) as filled:
        yield source_in(filled)


def source_in(settings: Settings) -> Source:
    """Of settings with a chain in them."""
    confirmations, poll = settings.confirmations or Pace().confirmations, timedelta(seconds=settings.poll_seconds)
    urls, contracts = addresses.nodes_in(text(settings.rpc_urls)), addresses.contracts_in(settings.contracts)
    return Source(urls, contracts, settings.start_block, Pace(confirmations=confirmations, poll=poll))


@contextmanager
def with_chain(settings: Settings) -> Iterator[Settings]:
    """With a chain in them: the operator's, else the embedded one, which runs meanwhile."""
    if text(settings.rpc_urls):
        yield settings
        return
    from glisk.dev import chain as embedded  # whoever has a chain of their own need not wait for it to load

    data_dir.prepare(settings.data_dir)
    with embedded.running(settings.data_dir / "chain") as node:
        own = {
            "rpc_urls": NodeUrls(f"{node.url},{node.ws_url}"),
            "contracts": f"{node.chain_id}:{node.contract}",
            "start_block": node.start_block if settings.start_block is None else settings.start_block,
            "confirmations": settings.confirmations or EMBEDDED_CONFIRMATIONS,
            "reveal_key_file": settings.reveal_key_file or str(node.keeper_key),
            "reveal_linger": EMBEDDED_LINGER_S if settings.reveal_linger is None else settings.reveal_linger,
        }
        yield settings.model_copy(update=own)


def where_chain(settings: Settings) -> str:
    if urls := text(settings.rpc_urls):
        return f"chain at {addresses.shown_nodes(urls).replace(',', ', ')}"
    return f"development chain, embedded, in {settings.shown_dir / 'chain'}"


async def follow(url: str, at: Source, say: Say) -> None:
    """For ever; what ends it is only what a person must mend first."""
    contracts, found = await patiently(at)
    rpcs = {chain_id: Rpc(chain_id, found.of(chain_id)) for chain_id in {one.chain_id for one in contracts}}
    listeners = [Listener(url, rpcs[one.chain_id], one, at.pace, start=at.start) for one in contracts]

    def wake() -> None:
        """All of them: that one looks in vain now and then costs less than knowing whose block it is."""
        for listener in listeners:
            listener.wake()

    def newest() -> int:
        """Goes up when any chain does: a socket that then says nothing for long has died, or has little to tell."""
        return sum(max(endpoint.head for endpoint in rpc.health()) for rpc in rpcs.values())

    for contract in contracts:
        say(f"following {contract}, confirmations: {at.pace.confirmations} (Ctrl-C stops)", 0)
    try:
        told = (heads(node, wake, newest) for node in addresses.subscribed(at.urls))
        await until_one_ends(*(listener.run() for listener in listeners), waking.listen(url, wake), *told)
    finally:
        for rpc in rpcs.values():
            await rpc.close()


async def patiently(at: Source) -> tuple[list[Contract], Nodes]:
    """Asks until enough nodes have told which chain they serve. That one serves a wrong one is said at once."""
    rest = FIRST_REST_S
    while True:
        found = await nodes.ask(addresses.questioned(at.urls))
        try:
            return nodes.placed(at.contracts, found), found
        except RpcUnreachable as error:
            log.warning("no node of the chain answered, trying again", error=str(error), seconds=rest)
        await asyncio.sleep(rest)
        rest = min(2 * rest, LONGEST_REST_S)


async def until_signal(action: Coroutine[Any, Any, None]) -> None:
    """The first signal cancels it. The second ends us at once, which loses nothing: what was not committed is read again."""
    task, loop = asyncio.create_task(action), asyncio.get_running_loop()
    asked = asyncio.Event()

    def stop() -> None:
        die_after(GRACE_S)
        with suppress(RuntimeError):  # the loop has ended already
            loop.call_soon_threadsafe(asked.set)
            loop.call_soon_threadsafe(task.cancel)

    on_signals(stop, partial(os._exit, INTERRUPTED))
    try:
        await task
    except asyncio.CancelledError:
        if not asked.is_set():
            raise


async def with_rpc(at: Source, contract: Contract, action: Callable[[Rpc], Awaitable[T]]) -> T:
    """For a command that asks once: whoever does not answer now is told of at once."""
    found = await nodes.ask(addresses.questioned(at.urls))
    nodes.chain_in((contract.chain_id, contract.address), found)
    rpc = Rpc(contract.chain_id, found.of(contract.chain_id))
    try:
        return await action(rpc)
    except NotThere as trouble:
        raise RpcBehind(f"{trouble}.") from trouble
    except RpcTrouble as trouble:
        raise RpcUnreachable(f"{trouble}.") from trouble
    finally:
        await rpc.close()
