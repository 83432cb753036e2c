"""An author with a real key, who signs what they are given as a wallet would."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import httpx

from glisk import wallets
from glisk.authors.typed_data import Prompt, document
from tests.builders import CHAIN, CONTRACT

KEY = "0x" + "a7" * 32


@dataclass(frozen=True)
class Wallet:
    key: str = KEY

    @property
    def address(self) -> str:
        return str(wallets.library().Account.from_key(self.key).address).lower()

    def sign(self, document: dict[str, Any]) -> str:
        """As eth_signTypedData_v4 does it, from what a page has handed over as text."""
        given = json.loads(json.dumps(document))
        signed = wallets.library().Account.sign_typed_data(self.key, full_message=given)
        return f"0x{bytes(signed.signature).hex()}"

    def published(self, author: str = "", **changes: Any) -> dict[str, Any]:
        """A signed prompt, ready to be sent; `changes` are made before it is signed."""
        plain = a_prompt(**{"author": author or self.address, **changes})
        message = {name: getattr(plain, name) for name in ("prompt", "disclosure", "nonce", "deadline")}
        return message | {"signature": self.sign(document(plain))}


async def publish(server: httpx.AsyncClient, author: str, body: dict[str, Any], **query: str) -> httpx.Response:
    return await server.post(f"/authors/{author}/prompt", json=body, params=query)


def a_prompt(**changes: Any) -> Prompt:
    parts = {"chain_id": CHAIN, "contract": CONTRACT, "author": Wallet().address, "prompt": "A fox in the snow"}
    return Prompt(**{**parts, "disclosure": "", "nonce": 1, "deadline": int(time.time()) + 600, **changes})
