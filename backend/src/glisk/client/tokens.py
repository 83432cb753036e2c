"""Tokens, as everybody may see them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from glisk.client.asking import given
from glisk.client.calling import Caller
from glisk.client.shapes import Token, TokenPage


@dataclass(frozen=True, slots=True)
class Tokens:
    caller: Caller

    async def list(
        self, *, status: str | None = None, author: str | None = None, contract: str | None = None, limit: int = 50
    ) -> AsyncGenerator[Token, None]:
        """The newest first."""
        asked = given(status=status, author=author, contract=contract, limit=limit)
        async for page in self.caller.pages(TokenPage, "/tokens", **asked):
            for token in page.tokens:
                yield token

    async def show(self, token_id: int | str, *, contract: str | None = None) -> Token:
        return await self.caller.read(Token, "GET", f"/tokens/{token_id}", params=given(contract=contract))
