"""Who reveals on which chain: made when it is first needed, from the operator's key and nodes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from glisk import addresses, wallets
from glisk.chain import nodes
from glisk.chain.pace import Pace
from glisk.chain.rpc.pool import Rpc
from glisk.chain.sending.fees import GWEI
from glisk.chain.sending.sender import Rules, Sender
from glisk.errors import GliskError
from glisk.settings import Settings, text

FAILED_FOR_S = 3.0


class Keepers:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.senders: dict[int, Sender] = {}
        self.failed: dict[int, tuple[float, GliskError]] = {}
        self.making = asyncio.Lock()

    async def of(self, chain_id: int) -> Sender:
        """Raises KeyUnusable, RpcUnreachable and WrongChain."""
        async with self.making:
            if chain_id not in self.senders:
                self.senders[chain_id] = await self.made_once(chain_id)
            return self.senders[chain_id]

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
        password = settings.reveal_key_password_file
        account = await asyncio.to_thread(
            wallets.opened, Path(settings.reveal_key_file), Path(password) if password else None
        )
        found = await nodes.ask(addresses.questioned(addresses.nodes_in(text(settings.rpc_urls))))
        nodes.require(chain_id, found)
        return Sender(Rpc(chain_id, found.of(chain_id)), account, rules_of(settings))

    async def close(self) -> None:
        for sender in self.senders.values():
            await sender.close()


def rules_of(settings: Settings) -> Rules:
    return Rules(
        most=int(settings.max_fee_gwei * GWEI),
        stuck_after=settings.stuck_after,
        confirmations=settings.confirmations or Pace().confirmations,
        poll=settings.poll_seconds,
    )
