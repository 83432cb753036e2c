"""Logs as Glisk reads them."""

from __future__ import annotations

import time

from benchmarks.peers import logs
from glisk.chain import calls, decode
from glisk.chain.mint import Mint
from glisk.chain.rpc.pool import Rpc

install, done = logs.install, logs.done


async def store(url: str, n: int, *, port: int) -> float:
    rpc = Rpc(logs.CONTRACT.chain_id, [f"http://127.0.0.1:{port}"])

    async def read(first: int, last: int) -> list[Mint]:
        asked, _ = calls.logs_between(logs.CONTRACT, first, last)
        mints: list[Mint] = (await rpc.ask(asked)).results[0].mints
        return mints

    took = await logs.stored(url, n, read)
    await rpc.close()
    return took


async def read_only(url: str, n: int, *, port: int) -> float:
    """Seconds for an answer of n logs that has arrived."""
    raw = logs.answer(port, n)
    started = time.perf_counter()
    for _ in range(logs.PASSES):
        assert len(decode.logs(raw, logs.CONTRACT.address).mints) == n
    return (time.perf_counter() - started) / logs.PASSES
