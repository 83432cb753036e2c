"""Logs as web3.py reads them, by the contract's description: `contract.events.BatchMinted.get_logs`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from web3 import AsyncHTTPProvider, AsyncWeb3
from web3.providers.async_base import AsyncJSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse

from benchmarks.peers import logs
from glisk.chain import mint
from glisk.chain.mint import Mint

install, done = logs.install, logs.done

ARTIFACT = Path(__file__).parents[3] / "contracts" / "artifacts" / "GliskCollection.json"


class Arrived(AsyncJSONBaseProvider):
    """Has the answer already."""

    def __init__(self, raw: bytes) -> None:
        super().__init__()
        self.raw = raw

    async def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        return {"jsonrpc": "2.0", "id": 1, "result": json.loads(self.raw)}


async def store(url: str, n: int, *, port: int) -> float:
    provider = AsyncHTTPProvider(f"http://127.0.0.1:{port}", request_kwargs={"timeout": 60})

    async def read(first: int, last: int) -> list[Mint]:
        return [minted(found) for found in await event(provider).get_logs(from_block=first, to_block=last)]

    took = await logs.stored(url, n, read)
    await provider.disconnect()
    return took


async def read_only(url: str, n: int, *, port: int) -> float:
    """Seconds for an answer of n logs that has arrived."""
    of = event(Arrived(logs.answer(port, n)))
    started = time.perf_counter()
    for _ in range(logs.PASSES):
        assert len([minted(found) for found in await of.get_logs(from_block=0, to_block=1)]) == n
    return (time.perf_counter() - started) / logs.PASSES


def event(provider: Any) -> Any:
    web3 = AsyncWeb3(provider)
    address = web3.to_checksum_address(logs.CONTRACT.address)
    return web3.eth.contract(address=address, abi=json.loads(ARTIFACT.read_text())["abi"]).events.BatchMinted


def minted(found: Any) -> Mint:
    told = found["args"]
    return Mint(
        mint.BATCH_MINTED,
        found["blockNumber"],
        bytes(found["blockHash"]),
        bytes(found["transactionHash"]),
        found["logIndex"],
        told["startTokenId"],
        told["quantity"],
        told["minter"].lower(),
        told["promptAuthor"].lower(),
    )
