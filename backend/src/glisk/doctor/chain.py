"""The chain: nodes that answer, contracts that are there, a keeper who may reveal and can pay for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg

from glisk import addresses
from glisk.chain import calls, nodes
from glisk.chain.mint import Contract
from glisk.chain.rpc.pool import Rpc
from glisk.chain.sending import asking
from glisk.chain.sending.keepers import key_of
from glisk.dev import sharing
from glisk.doctor.database import a_link
from glisk.doctor.finding import Finding, Kind, Patient, Probe, ok
from glisk.engine.link import LinkLost
from glisk.repositories.chain_board import ChainBoard
from glisk.repositories.means import reveals_left
from glisk.settings import Settings, variable
from glisk.values import text

OLD_HEAD_S = 300


def probes(patient: Patient) -> Sequence[Probe]:
    kind: Kind = "real" if text(patient.settings.rpc_urls) else "embedded"
    keeper_kind: Kind = "real" if patient.settings.reveal_key_file else kind
    look = partial(followed, patient.filled) if text(patient.filled.rpc_urls) else partial(embedded, patient.settings)
    return [
        Probe("chain", look, kind, variable("rpc_urls")),
        Probe("keeper", partial(keeper, patient), keeper_kind, variable("reveal_key_file")),
    ]


async def embedded(settings: Settings) -> Finding:
    home = settings.data_dir / "chain"
    port = await asyncio.to_thread(sharing.published_port, home)
    return ok(f"development chain, on port {port}") if port else ok("development chain; it starts with glisk up")


async def followed(settings: Settings) -> Finding:
    found = await nodes.ask(addresses.questioned(addresses.nodes_in(text(settings.rpc_urls))))
    contracts = nodes.placed(addresses.contracts_in(settings.contracts), found)
    told = [await looked_at(contract, found) for contract in contracts]
    if broken := [finding for finding in told if finding.state != "ok"]:
        return broken[0]
    seen = "; ".join(finding.seen for finding in told)
    if silence := found.silence():
        return Finding("warning", f"{seen}; {silence}", "Mend or remove the node: GLISK_RPC_URLS")
    return ok(seen)


async def looked_at(contract: Contract, found: nodes.Nodes) -> Finding:
    async with an_rpc(contract.chain_id, found) as rpc:
        head, code = (await rpc.ask(calls.block(calls.LATEST), calls.code(contract, calls.LATEST))).results
    age = time.time() - head.timestamp
    seen = f"chain {contract.chain_id} at block {head.number}, {max(age, 0):.0f} s old"
    if not code:
        return Finding("broken", f"{seen}; there is no contract at {contract.address}", "Correct GLISK_CONTRACTS.")
    if age > OLD_HEAD_S:
        return Finding("warning", seen, "The node does not keep up, or the chain stands still: look at its health.")
    return ok(seen)


async def keeper(patient: Patient) -> Finding:
    settings = patient.filled
    if not patient.settings.reveals:
        return ok("nothing is revealed (GLISK_REVEAL=off, or there is no key)")
    if not settings.reveal_key_file:
        return ok("that of the development chain")
    account = await asyncio.to_thread(key_of, settings)
    address = str(account.address).lower()
    if not text(settings.rpc_urls):
        return ok(address)
    found = await nodes.ask(addresses.questioned(addresses.nodes_in(text(settings.rpc_urls))))
    contracts = nodes.placed(addresses.contracts_in(settings.contracts), found)
    told = [await means(patient, contract, address, found) for contract in contracts]
    return next((finding for finding in told if finding.state != "ok"), told[0] if told else ok(address))


async def means(patient: Patient, contract: Contract, address: str, found: nodes.Nodes) -> Finding:
    async with an_rpc(contract.chain_id, found) as rpc:
        asked: list[Any] = [asking.keeper_of(contract.address), asking.balance(address), *asking.market()]
        known, balance, base, tip = (await rpc.ask(*asked)).results
    if known != address:
        fix = "Use the keeper's key, or let the contract's owner call setKeeper."
        return Finding("broken", f"{address} is not the keeper of {contract}: that is {known or 'nobody'}", fix)
    market = asking.as_market(base, tip)
    price, gas = await last_price(patient.url, contract.chain_id, address) or (market.price, None)
    left = reveals_left(balance, price, gas)
    seen = f"{address} has {balance / 10**18:.6f}, enough for about {left} reveals"
    is_enough = left >= patient.settings.alert_reveals_left
    return ok(seen) if is_enough else Finding("warning", seen, f"Send it some more: {address}")


async def last_price(url: str, chain_id: int, address: str) -> tuple[int, int | None] | None:
    """As the pages and `glisk chain status` reckon with it. That the database does not answer is told elsewhere."""
    async with a_link(url) as link:
        try:
            return await ChainBoard(link).last_price(chain_id, address)
        except (LinkLost, asyncpg.UndefinedTableError):
            return None


@asynccontextmanager
async def an_rpc(chain_id: int, found: nodes.Nodes) -> AsyncIterator[Rpc]:
    rpc = Rpc(chain_id, found.of(chain_id))
    try:
        yield rpc
    finally:
        await rpc.close()
