"""Which chains do these nodes serve? Asked before anything is followed, so that a wrong address is told at once."""

from __future__ import annotations

import asyncio
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
    """By their URLs, in the operator's order: which chain each serves, or why it did not tell."""

    answers: dict[str, int | str]

    @property
    def chains(self) -> list[int]:
        return sorted({answer for answer in self.answers.values() if isinstance(answer, int)})

    def of(self, chain_id: int) -> list[str]:
        """With those that were silent, which may be of any chain: whoever asks them later looks first which one they serve."""
        return [url for url, answer in self.answers.items() if answer == chain_id or isinstance(answer, str)]

    def silence(self) -> str:
        return "; ".join(f"{shown_node(url)}: {why}" for url, why in self.answers.items() if isinstance(why, str))


class Answer(Struct):
    result: str


async def ask(urls: Sequence[str]) -> Nodes:
    async with httpx.AsyncClient(timeout=DEADLINE_S) as client:
        answers = await asyncio.gather(*(chain_of(client, url) for url in urls))
    return Nodes(dict(zip(urls, answers, strict=True)))


async def chain_of(client: httpx.AsyncClient, url: str) -> int | str:
    """Its id, or why there is none."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            response = await client.post(url, json=QUESTION)
        return int(msgspec.json.decode(response.content, type=Answer).result, 16)
    except (httpx.HTTPError, TimeoutError) as error:
        return type(error).__name__  # its words may have the URL in them, and that a key
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return f"answered {response.status_code} without a chain's id"


def placed(wanted: Sequence[tuple[int | None, str]], nodes: Nodes) -> list[Contract]:
    """Each contract with its chain. Raises WrongChain when what the nodes told cannot be right, RpcUnreachable when they told too little."""
    found = list(dict.fromkeys(Contract(chain_in(one, nodes), one[1]) for one in wanted))
    used = {contract.chain_id for contract in found}
    for url, answer in nodes.answers.items():
        if isinstance(answer, int) and answer not in used:
            raise WrongChain(f"{shown_node(url)} serves chain {answer}, on which nothing is to be followed.")
    return found


def require(chain_id: int, nodes: Nodes) -> None:
    """That somebody serves it, or may."""
    if chain_id not in nodes.chains:
        if silence := nodes.silence():
            raise RpcUnreachable(silence)
        raise WrongChain(f"Chain {chain_id} is wanted; they serve {' and '.join(map(str, nodes.chains))}.")


def chain_in(contract: tuple[int | None, str], nodes: Nodes) -> int:
    chain_id, address = contract
    served = " and ".join(map(str, nodes.chains))
    if chain_id is None and len(nodes.chains) > 1:
        raise WrongChain(f"They serve the chains {served}: {address} must say which one it is on.")
    if chain_id in nodes.chains or (chain_id is None and nodes.chains):
        return chain_id or nodes.chains[0]
    if silence := nodes.silence():
        raise RpcUnreachable(silence)
    raise WrongChain(f"{address} is to be on chain {chain_id}; they serve {served}.")
