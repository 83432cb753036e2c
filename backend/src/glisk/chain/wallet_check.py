"""Does a wallet that is a contract call a signature its own? Asked of the chain it is on (ERC-1271)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from glisk import addresses
from glisk.chain import nodes
from glisk.chain.calls import LATEST
from glisk.chain.rpc.call import Call, NotThere, Refused, RpcTrouble
from glisk.chain.rpc.pool import Rpc
from glisk.errors import RpcBehind, RpcUnreachable

IS_VALID_SIGNATURE = "1626ba7e"  # its answer too, when it is
YES = IS_VALID_SIGNATURE + 56 * "0"
MOST_GAS = 5_000_000  # a wallet with many owners, or with passkeys, needs a tenth of it
AT_ONCE = 4  # questions: anybody may make us ask, and the nodes are the listener's too
PATIENCE = timedelta(seconds=10)
NO_NODES = "Set GLISK_RPC_URLS where Glisk serves: only the chain knows what a wallet that is a contract has signed."


class WalletCheck:
    """Over the nodes at these URLs. Which chain each serves is asked when the first wallet that is a contract comes."""

    def __init__(self, urls: Sequence[str]) -> None:
        self.urls = addresses.questioned(urls)
        self.rpcs: dict[int, Rpc] = {}
        self.lock, self.turns = asyncio.Lock(), asyncio.Semaphore(AT_ONCE)

    async def __call__(self, chain_id: int, wallet: str, digest: bytes, signature: bytes) -> bool:
        """Raises ChainError when nobody can say."""
        if not self.urls:
            raise RpcUnreachable("There is none.", fix=NO_NODES)
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()), self.turns:
                return await is_valid(await self.rpc(chain_id), wallet, digest, signature)
        except TimeoutError as error:
            raise RpcUnreachable(f"Not within {PATIENCE.total_seconds():g} s.") from error

    async def rpc(self, chain_id: int) -> Rpc:
        async with self.lock:
            if chain_id not in self.rpcs:
                found = await nodes.ask(self.urls)
                nodes.require(chain_id, found)
                self.rpcs[chain_id] = Rpc(chain_id, found.of(chain_id))
            return self.rpcs[chain_id]

    async def close(self) -> None:
        for rpc in self.rpcs.values():
            await rpc.close()


async def is_valid(rpc: Rpc, wallet: str, digest: bytes, signature: bytes) -> bool:
    """A contract that knows no such question, or breaks off, has not signed; nor has an address where there is none."""
    try:
        (found,) = (await rpc.ask(question(wallet, digest, signature))).results
    except Refused as trouble:
        if trouble.is_revert:
            return False
        raise RpcUnreachable(f"{trouble}.") from trouble
    except NotThere as trouble:
        raise RpcBehind(f"{trouble}.") from trouble
    except RpcTrouble as trouble:
        raise RpcUnreachable(f"{trouble}.") from trouble
    return bool(found)


def question(wallet: str, digest: bytes, signature: bytes) -> Call[bool]:
    words = (
        digest,
        (64).to_bytes(32, "big"),
        len(signature).to_bytes(32, "big"),
        signature,
        bytes(-len(signature) % 32),
    )
    data = f"0x{IS_VALID_SIGNATURE}{b''.join(words).hex()}"
    return Call("eth_call", [{"to": wallet, "data": data, "gas": hex(MOST_GAS)}, LATEST], is_yes)


def is_yes(raw: msgspec.Raw) -> bool:
    """The whole word: whoever just gives back what it was sent begins with the same four bytes."""
    return msgspec.json.decode(raw, type=str)[2:66].lower() == YES
