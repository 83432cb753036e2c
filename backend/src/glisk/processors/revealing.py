"""revealing: the chain is told where a token's picture is, once, in as few transactions as will do."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from glisk import addresses
from glisk.chain.mint import Contract
from glisk.chain.rpc.call import RpcTrouble
from glisk.chain.sending import nonces
from glisk.chain.sending.gathering import Gathering
from glisk.chain.sending.keepers import Keepers
from glisk.chain.sending.revealer import Revealer
from glisk.engine import ledger
from glisk.engine.claim import Claim
from glisk.engine.decide import Hold, Verdict, Wait
from glisk.engine.link import Link, persistently
from glisk.engine.periodic import Periodic
from glisk.errors import BadSettings, ChainError, FeeTooHigh, Problem, RevealError
from glisk.processors import Limits, processor
from glisk.settings import Settings
from glisk.workflows import TOKENS

log = structlog.get_logger()

LANE = "chain"
LINGER_S = 5.0
FEE_REST, NODE_REST, HALTED_REST = timedelta(seconds=15), timedelta(seconds=5), timedelta(seconds=30)
HOLD = timedelta(minutes=1)  # then it is looked again whether somebody has mended it
SOONEST, LATEST = timedelta(seconds=0.5), timedelta(seconds=15)
FRESH_S = 0.3  # so long what was read of a cursor is believed
TENDING = timedelta(seconds=15)
FINAL = """
    SELECT LEAST(confirmed_no, safe_no) AS final, halted FROM chain_cursor WHERE chain_id = $1 AND contract_address = $2"""
UNFINISHED = "SELECT chain_id, sender, nonce FROM chain_nonce WHERE outcome IS NULL ORDER BY nonce"


@processor("revealing")
class Revealing:
    lane: str | None = LANE
    limits = Limits(concurrency=1000)

    def __init__(self, settings: Settings) -> None:
        if not settings.reveal_key_file:
            wanted = "the keeper's key is wanted to reveal tokens (or GLISK_REVEAL=off)"
            raise BadSettings([Problem("GLISK_REVEAL_KEY_FILE", "empty", wanted)])
        self.settings, self.keepers = settings, Keepers(settings)
        self.groups: dict[Contract, Gathering[Claim, Verdict]] = {}
        self.finals: dict[Contract, tuple[float, Any]] = {}
        self.tending: asyncio.Task[None] | None = None

    async def run(self, claim: Claim) -> Verdict:
        contract = Contract(int(claim.row["chain_id"]), claim.row["contract_address"])
        try:
            if rest := await self.rest(claim, contract):
                return rest
            return await (await self.group(contract))(claim)
        except FeeTooHigh as error:
            return Wait(FEE_REST, str(error))
        except RevealError as error:
            return Hold(f"{error} {error.fix}", HOLD)
        except (ChainError, RpcTrouble) as error:
            return Wait(NODE_REST, str(error))

    async def rest(self, claim: Claim, contract: Contract) -> Verdict | None:
        """A mint that a reorganisation could still undo waits; nothing is wrong with it."""
        found = await self.final(claim.link, contract)
        if found is None or claim.row["mint_block"] is None:
            return None  # nobody follows it here: the chain itself is asked in a moment
        if found["halted"]:
            return Wait(HALTED_REST, found["halted"])
        if claim.row["mint_block"] <= found["final"]:
            return None
        age = datetime.now(UTC) - claim.row["detected_at"]
        return Wait(min(max(age / 4, SOONEST), LATEST))

    async def final(self, link: Link, contract: Contract) -> Any:
        """The newest block that stays, and whether something is wrong; None: nobody follows the contract."""
        at, found = self.finals.get(contract, (-FRESH_S, None))
        if time.monotonic() - at >= FRESH_S:
            rows = await persistently(lambda: link.fetch(FINAL, contract.chain_id, contract.address), "read cursor")
            found = rows[0] if rows else None
            self.finals[contract] = time.monotonic(), found
        return found

    async def group(self, contract: Contract) -> Gathering[Claim, Verdict]:
        sender = await self.keepers.of(contract.chain_id)
        if contract not in self.groups:
            linger = LINGER_S if self.settings.reveal_linger is None else self.settings.reveal_linger
            self.groups[contract] = Gathering(
                Revealer(self.keepers, sender, contract).reveal, self.settings.reveal_batch, linger
            )
        return self.groups[contract]

    async def close(self) -> None:
        if self.tending:
            self.tending.cancel()
            await asyncio.gather(self.tending, return_exceptions=True)
        for group in self.groups.values():
            await group.close()
        await self.keepers.close()

    def works(self, link: Link) -> list[Periodic]:
        """For transactions whose tokens nobody holds any more: a nonce must not stay open, nor an attempt."""

        async def run() -> None:
            if self.tending is None or self.tending.done():
                self.tending = asyncio.create_task(self.finish(link))
            done, _ = await asyncio.wait([self.tending], timeout=TENDING.total_seconds())  # then it goes on beside
            for task in done:
                task.result()
            await close_left_open(link)

        return [Periodic("finish reveals", TENDING, run)]

    async def finish(self, link: Link) -> None:
        """And what the keepers have left is looked at, for people."""
        configured = {chain for chain, _ in addresses.contracts_in(self.settings.contracts) if chain}
        for chain_id in configured | set(self.keepers.senders):
            with suppress(ChainError, RpcTrouble, RevealError):
                await (await self.keepers.of(chain_id)).means(link)
        for row in await link.fetch(UNFINISHED):
            with suppress(ChainError, RpcTrouble, RevealError):
                sender = await self.keepers.at(nonces.Wallet(row["chain_id"], row["sender"]))
                await sender.ended(link, row["nonce"], "periodic")


async def close_left_open(link: Link) -> None:
    """Of tokens that were ended by a person while their transaction was on its way: it was paid for all the same."""
    for row in await ledger.left_open(link.fetch, TOKENS, nonces.PROVIDER, "revealing"):
        if ended := await nonces.ended(link, *nonces.named_in(row["receipt"])):
            shares = await nonces.shares(link, row["receipt"], ended.paid)
            told = {"tx": ended.tx, "wei": str(shares[row["attempt_id"]])}
            said = "Its row had ended"
            await ledger.record(link.fetch, row["attempt_id"], "cancelled", error=said, details=told)
