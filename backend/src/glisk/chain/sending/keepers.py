"""Who reveals on which chain: made when it is first needed, from the operator's key and nodes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from glisk import addresses, wallets
from glisk.chain import nodes
from glisk.chain.pace import Pace
from glisk.chain.rpc.pool import Rpc
from glisk.chain.sending.fees import GWEI
from glisk.chain.sending.nonces import Wallet
from glisk.chain.sending.sender import Rules, Sender
from glisk.errors import GliskError
from glisk.settings import Settings
from glisk.values import text

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

FAILED_FOR_S = 3.0


class Keepers:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.senders: dict[int, Sender] = {}
        self.former: dict[Wallet, Sender] = {}
        self.failed: dict[int, tuple[float, GliskError]] = {}
        self.making = asyncio.Lock()

    async def of(self, chain_id: int) -> Sender:
        """Raises KeyUnusable, RpcUnreachable and WrongChain."""
        async with self.making:
            if chain_id not in self.senders:
                self.senders[chain_id] = await self.made_once(chain_id)
            return self.senders[chain_id]

    async def at(self, wallet: Wallet) -> Sender:
        """Whoever it is: of a keeper whose key was replaced, what is on its way is still followed."""
        today = await self.of(wallet.chain_id)
        if wallet == today.wallet:
            return today
        if wallet not in self.former:
            self.former[wallet] = Sender(today.rpc, wallet, today.rules)
        return self.former[wallet]

    async def made_once(self, chain_id: int) -> Sender:
        """A key that cannot be read is not read again for each of a hundred tokens: to decrypt one takes a second."""
        at, error = self.failed.get(chain_id, (-FAILED_FOR_S, None))
        if error and time.monotonic() - at < FAILED_FOR_S:
            raise error
        try:
            return await self.made(chain_id)
        except GliskError as error:
            self.failed[chain_id] = time.monotonic(), error
            raise

    async def made(self, chain_id: int) -> Sender:
        settings = self.settings
        account = await asyncio.to_thread(key_of, settings)
        found = await nodes.ask(addresses.questioned(addresses.nodes_in(text(settings.rpc_urls))))
        nodes.require(chain_id, found)
        wallet = Wallet(chain_id, account.address.lower())
        return Sender(Rpc(chain_id, found.of(chain_id)), wallet, rules_of(settings), account)

    async def close(self) -> None:
        for sender in (*self.former.values(), *self.senders.values()):
            await sender.close()


def require_key(settings: Settings) -> None:
    """For whoever is going to reveal: that a key cannot be used is told before anything starts. Raises KeyUnusable."""
    if settings.reveals and settings.reveal_key_file:
        key_of(settings)


def key_of(settings: Settings) -> LocalAccount:
    password = settings.reveal_key_password_file
    return wallets.opened(
        Path(settings.reveal_key_file).expanduser(), Path(password).expanduser() if password else None
    )


def rules_of(settings: Settings) -> Rules:
    return Rules(
        most=int(settings.max_fee_gwei * GWEI),
        stuck_after=settings.stuck_after,
        confirmations=settings.confirmations or Pace().confirmations,
        poll=settings.poll_seconds,
    )
