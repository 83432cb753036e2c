"""Which chains do these nodes serve? Asked before anything is followed, so that a wrong address is told at once."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

import httpx
import msgspec
from msgspec import Struct

from glisk.addresses import shown_node
from glisk.chain.mint import Contract
from glisk.errors import RpcUnreachable, WrongChain

QUESTION = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
DEADLINE_S = 10.0


class Nodes(Struct, frozen=True):
    """Those that told their chain, and those that told nothing, each with the reason."""

    by_chain: dict[int, list[str]]
    silent: dict[str, str]

    def of(self, chain_id: int) -> list[str]:
        """Those that are silent may be of any chain: whoever asks them later looks first which one they serve."""
        return [*self.by_chain.get(chain_id, ()), *self.silent]

    def silence(self) -> str:
        return "; ".join(f"{shown_node(url)}: {why}" for url, why in self.silent.items())


class Answer(Struct):
    result: str


async def ask(urls: Sequence[str]) -> Nodes:
    async with httpx.AsyncClient(timeout=DEADLINE_S) as client:
        answers = await asyncio.gather(*(chain_of(client, url) for url in urls))
    by_chain = defaultdict[int, list[str]](list)
    for url, answer in zip(urls, answers, strict=True):
        if isinstance(answer, int):
            by_chain[answer].append(url)
    silent = {url: answer for url, answer in zip(urls, answers, strict=True) if isinstance(answer, str)}
    return Nodes(dict(by_chain), silent)


async def chain_of(client: httpx.AsyncClient, url: str) -> int | str:
    """Its id, or why there is none."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            response = await client.post(url, json=QUESTION)
        return int(msgspec.json.decode(response.content, type=Answer).result, 16)
    except (httpx.HTTPError, TimeoutError) as error:
        return type(error).__name__  # its words may have the URL in them, and that a key
    except (msgspec.MsgspecError, ValueError):
        return f"answered {response.status_code} without a chain's id"


def placed(wanted: Sequence[tuple[int | None, str]], nodes: Nodes) -> list[Contract]:
    """Each contract with its chain. Raises RpcUnreachable when too few nodes have told theirs, WrongChain when they told enough."""
    found = list(dict.fromkeys(Contract(chain_in(one, nodes), one[1]) for one in wanted))
    used = {contract.chain_id for contract in found}
    for chain_id, urls in nodes.by_chain.items():
        if chain_id not in used:
            raise WrongChain(f"{shown_node(urls[0])} serves chain {chain_id}, on which nothing is to be followed.")
    return found


def chain_in(contract: tuple[int | None, str], nodes: Nodes) -> int:
    chain_id, address = contract
    chains = sorted(nodes.by_chain)
    if chain_id is None and len(chains) > 1:
        known = " and ".join(map(str, chains))
        raise WrongChain(f"They serve the chains {known}: {address} must say which one it is on.")
    if chain_id in chains or (chain_id is None and chains):
        return chain_id or chains[0]
    if nodes.silent:
        raise RpcUnreachable(nodes.silence())
    raise WrongChain(f"{address} is to be on chain {chain_id}; they serve {' and '.join(map(str, chains))}.")
