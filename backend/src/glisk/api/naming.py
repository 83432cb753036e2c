"""Which token is meant: its id and its collection, as somebody writes them into an address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Path

from glisk import addresses
from glisk.errors import BadQuery, TokenMissing
from glisk.repositories.metadata_board import Asked, MetadataBoard
from glisk.repositories.token_board import Collection
from glisk.settings import Settings

NUMBER = re.compile(r"[0-9]{1,78}")
TokenId = Annotated[str, Path(description="The token's id in its collection.", examples=["17"])]
CollectionName = Annotated[str, Path(description="The collection, CHAIN:0x….", examples=["8453:0x569d…43a0"])]
A_NUMBER = "A number from 0 to 2^256 - 1 is wanted, in decimal digits."
A_COLLECTION = "CHAIN:0x… is wanted: the chain's id and the contract's address."


@dataclass(frozen=True, slots=True)
class Names:
    board: MetadataBoard
    settings: Settings

    async def token(self, collection: str | None, token_id: str) -> Asked:
        """One that is there: a mint that has left the chain is no token."""
        number, of = number_in(token_id), await self.collection(collection)
        token = await self.board.asked_for(of, number) if of else None
        if token is None:
            raise TokenMissing
        return token

    async def collection(self, given: str | None) -> Collection | None:
        """The one that is named, else the first that is followed, else the only one there is."""
        if given is not None:
            return collection_in(given)
        chain, contract = next(iter(addresses.contracts_in(self.settings.contracts)), (None, None))
        if chain is not None:
            return Collection(contract, chain)
        found = [each for each in await self.board.collections() if contract in (None, each.contract)]
        if len(found) > 1:
            raise TokenMissing("There are several collections.", fix=f"Say which, for instance {found[0]}.")
        return found[0] if found else None


def number_in(text: str) -> int:
    if not NUMBER.fullmatch(text) or int(text) >= 2**256:
        raise BadQuery("token_id: this is no token id.", fix=A_NUMBER)
    return int(text)


def collection_in(text: str) -> Collection:
    try:
        chain, contract = addresses.contract_in(text)
    except ValueError:
        chain = None
    if chain is None:
        raise BadQuery("contract: this is no collection.", fix=A_COLLECTION)
    return Collection(contract, chain)
