"""A collector for the embedded chain, who mints now and then from authors who publish prompts: something to look at in the first minutes.

It is a client like any other: it signs with wallets of the chain, and asks our own HTTP server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import httpx
import structlog

from glisk.dev.chain_contract import GAS, MINT_PRICE

log = structlog.get_logger()

QUICK_S, SLOW_S, MANY = 4.0, 60.0, 200  # after so many it mints seldom: a forgotten one must not fill the disk
TRIES_S = 2.0
MINT = "0x40c10f19"  # mint(address,uint256)
PROMPTS_A_MIND = 3  # so many mints of an author are drawn from the same prompt
PROMPTS = (
    ("Misty mountains above a quiet lake at dawn, soft gold light", "A cathedral window of stained glass, sapphire and ruby", "Northern lights over an arctic bay, emerald and violet"),
    ("A lighthouse on a cliff, long waves, a stormy evening", "Bauhaus poster, circles and triangles, red and mustard", "Layered paper canyon, coral and teal"),
    ("Hot air balloons over a valley at sunrise, pastel sky", "A saturn-like planet with turquoise rings among stars", "Two kittens in a sunny garden, storybook colors"),
    ("Neon city skyline in the rain, magenta and cyan", "A spiral galaxy, stardust, indigo and gold", "Birch forest in autumn fog, copper leaves"),
    ("A lotus in bloom, mandala petals, rose and ivory", "Silk ribbons in slow motion, lavender gradient", "Portrait mask of a samurai, black and scarlet"),
    ("Sand dunes and a caravan under a huge moon", "Botanical garden, poppies and ferns, bees at work", "Liquid marble, obsidian with veins of gold"),
)  # fmt: skip


class Refused(Exception):
    """By the chain."""


@dataclass(slots=True)
class Author:
    wallet: str
    prompts: Sequence[str]
    minted: int = 0

    def after(self, published: str | None) -> str:
        """They go on with the one after that, and then from the first."""
        return self.prompts[(self.prompts.index(published) + 1) % len(self.prompts) if published else 0]


@dataclass(slots=True)
class Collector:
    """`node` is the chain's URL, `glisk` ours."""

    node: str
    glisk: str
    contract: str
    minted: int = 0
    client: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=10, verify=False))  # noqa: S501 (both are on this machine)

    async def run(self) -> None:
        """For ever. Whatever does not work now may work the next time."""
        try:
            authors, minter = await self.persistently_met()
            for author in cycle(authors):
                rest = await self.minted_from(author, minter)
                await asyncio.sleep(rest)
        finally:
            await self.client.aclose()

    async def minted_from(self, author: Author, minter: str) -> float:
        """The seconds to rest after it."""
        try:
            if author.minted % PROMPTS_A_MIND == 0:
                await self.publish(author)
            await self.mint(author, minter)
        except (httpx.HTTPError, Refused) as error:
            log.warning("the demo collector could not mint, trying again", error=str(error))
            return TRIES_S
        author.minted += 1
        self.minted += 1
        return QUICK_S if self.minted < MANY else SLOW_S

    async def persistently_met(self) -> tuple[list[Author], str]:
        while True:
            try:
                _, _, minter, *wallets = await self.ask("eth_accounts")
                return [Author(wallet, some) for wallet, some in zip(wallets, PROMPTS, strict=False)], minter
            except (httpx.HTTPError, Refused):
                await asyncio.sleep(TRIES_S)

    async def publish(self, author: Author) -> None:
        """Signed by the author's wallet, which the chain keeps. A prompt that somebody else has published for it stays."""
        known = await self.told("GET", f"/authors/{author.wallet}")
        published = known.get("prompt")
        if known["has_prompt"] and published not in author.prompts:
            return
        terms = {"prompt": author.after(published), "disclosure": "now"}
        data = await self.told("GET", f"/authors/{author.wallet}/typed-data", params=terms)
        signature = await self.ask("eth_signTypedData_v4", author.wallet, data)
        signed = {name: data["message"][name] for name in ("prompt", "disclosure", "nonce", "deadline")}
        await self.told("POST", f"/authors/{author.wallet}/prompt", json={**signed, "signature": signature})

    async def mint(self, author: Author, minter: str) -> None:
        data = MINT + author.wallet[2:].rjust(64, "0") + f"{1:064x}"
        await self.ask(
            "eth_sendTransaction",
            {"from": minter, "to": self.contract, "value": hex(MINT_PRICE), "gas": GAS, "data": data},
        )

    async def ask(self, method: str, *params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = (await self.client.post(self.node, json=body)).json()
        if "error" in answer:
            raise Refused(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    async def told(self, method: str, path: str, **terms: Any) -> Any:
        answer = await self.client.request(method, f"{self.glisk}{path}", **terms)
        answer.raise_for_status()
        return answer.json()
