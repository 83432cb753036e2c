"""The follower that everybody writes first: it reads up to the head, remembers the number, and never looks back."""

from __future__ import annotations

from typing import Any

import httpx

from tests.simulator import log
from tests.simulator.nodes import Nodes
from tests.simulator.tree import ADDRESS

AT_ONCE = 5


async def follow(url: str, nodes: Nodes, end: int) -> dict[int, bytes]:
    """The tokens it has found when its cursor has passed that many blocks after the nodes settled, with their transaction."""
    found: dict[int, bytes] = {}
    cursor = 0
    async with httpx.AsyncClient(base_url=url) as http:
        while nodes.settled_at is None or cursor < nodes.settled_at + end:
            head = int(await asked(http, "eth_blockNumber") or "0x0", 16)
            while cursor < head:
                last = min(head, cursor + AT_ONCE)
                terms = {"address": ADDRESS, "fromBlock": hex(cursor + 1), "toBlock": hex(last)}
                entries = await asked(http, "eth_getLogs", terms | {"topics": [log.TRANSFER, log.word(log.NOBODY)]})
                if entries is None:
                    break
                found |= {
                    int(entry["topics"][3], 16): log_tx(entry) for entry in entries if entry["address"] == ADDRESS
                }
                cursor = last
    return found


async def asked(http: httpx.AsyncClient, method: str, *params: Any) -> Any:
    """None: not this time."""
    try:
        answer = (await http.post("/", json={"id": 1, "method": method, "params": params}, timeout=0.2)).json()
    except (httpx.TransportError, ValueError):
        return None
    return answer.get("result")


def log_tx(entry: dict[str, Any]) -> bytes:
    return bytes.fromhex(entry["transactionHash"][2:])
