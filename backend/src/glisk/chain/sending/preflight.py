"""May these tokens be revealed now? Asked of the chain itself, at a block that stays, before anything is paid for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from msgspec import Struct

from glisk.chain import calls
from glisk.chain.mint import Contract
from glisk.chain.rpc.call import Refused
from glisk.chain.rpc.pool import Rpc
from glisk.chain.sending import asking
from glisk.chain.sending.asking import MOST_GAS
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Retry, Verdict, Wait
from glisk.errors import NotTheKeeper

log = structlog.get_logger()

NOT_FINAL = timedelta(seconds=5)
DISPUTED = timedelta(minutes=1)
NO_KEEPER = "Its contract has no keeper and knows no prompt authors, so nothing can be revealed on it: GLISK_REVEAL=off"


class Wish(Struct, frozen=True):
    """A token that is to be revealed, and as what. `author`: the wallet whose prompt was drawn for it."""

    claim: Claim
    token_id: int
    uri: str
    author: str


class Cleared(Struct, frozen=True):
    """Those that may be revealed together, with the gas that takes; and what is to become of each of the others."""

    wishes: Sequence[Wish]
    gas: int
    verdicts: dict[int, Verdict]  # by claim


class Preflight:
    def __init__(self, rpc: Rpc, contract: Contract, sender: str, confirmations: int) -> None:
        self.rpc, self.contract, self.sender, self.confirmations = rpc, contract, sender, confirmations

    async def cleared(self, wishes: Sequence[Wish]) -> Cleared:
        """Raises NotTheKeeper."""
        verdicts = await self.objections(wishes)
        good, gas = await self.sound([wish for wish in wishes if wish.claim.id not in verdicts], verdicts)
        return Cleared(good, gas, verdicts)

    async def objections(self, wishes: Sequence[Wish]) -> dict[int, Verdict]:
        """Of those that are not to be revealed, or not now."""
        address = self.contract.address
        head, safe = (await self.rpc.ask(calls.block(calls.LATEST), calls.tagged("safe"))).results
        settled = asking.settled_block(head.number, safe and safe.number, self.confirmations)
        asked: list[Any] = [asking.keeper_of(address), asking.placeholder_of(address)]
        for wish in wishes:
            asked += [asking.author_of(address, wish.token_id, max(settled, 0)), asking.uri_of(address, wish.token_id)]
        keeper, placeholder, *answers = (await self.rpc.ask(*asked)).results
        if keeper not in (None, self.sender):
            raise NotTheKeeper(f"{self.contract} has the keeper {keeper}; the key is that of {self.sender}.")
        unrevealed = {None, "", placeholder}
        seen = zip(wishes, answers[::2], answers[1::2], strict=True)
        if keeper is None and not any(
            answers[::2]
        ):  # it is no collection that can be revealed, or just too young to be final
            return {wish.claim.id: Wait(DISPUTED, NO_KEEPER) for wish in wishes}
        judged = {wish.claim.id: objection(wish, author, uri, unrevealed) for wish, author, uri in seen}
        return {id: verdict for id, verdict in judged.items() if verdict}

    async def sound(self, wishes: Sequence[Wish], verdicts: dict[int, Verdict]) -> tuple[list[Wish], int]:
        """Those that go through together. One that makes the call revert is found by halving, so that it holds up nobody else."""
        if not wishes:
            return [], 0
        try:
            gas = await self.gas(wishes)
        except Refused as refusal:
            if not refusal.is_revert:
                raise
            return await self.without_the_bad(wishes, verdicts, str(refusal))
        if gas <= MOST_GAS:
            return list(wishes), gas
        return await self.as_many_as_fit(wishes, verdicts, gas)

    async def without_the_bad(
        self, wishes: Sequence[Wish], verdicts: dict[int, Verdict], why: str
    ) -> tuple[list[Wish], int]:
        if len(wishes) == 1:
            log.warning("a token cannot be revealed", token_id=str(wishes[0].token_id), why=why)
            verdicts[wishes[0].claim.id] = Retry(f"The contract refuses to reveal it: {why}", category="contract")
            return [], 0
        middle = len(wishes) // 2
        first, gas = await self.sound(wishes[:middle], verdicts)
        second, more = await self.sound(wishes[middle:], verdicts)
        return [*first, *second], gas + more

    async def as_many_as_fit(
        self, wishes: Sequence[Wish], verdicts: dict[int, Verdict], gas: int
    ) -> tuple[list[Wish], int]:
        """The others come with the next one."""
        fitting = min(len(wishes) - 1, len(wishes) * MOST_GAS // gas)
        if not fitting:
            verdicts[wishes[0].claim.id] = Retry(f"To reveal it takes {gas} gas, more than a transaction may have")
            return [], 0
        verdicts.update({wish.claim.id: Wait() for wish in wishes[fitting:]})
        return await self.sound(wishes[:fitting], verdicts)

    async def gas(self, wishes: Sequence[Wish]) -> int:
        data = asking.revealing([(wish.token_id, wish.uri) for wish in wishes])
        (found,) = (await self.rpc.ask(asking.gas(self.sender, self.contract.address, data))).results
        return int(found)


def objection(wish: Wish, author: str | None, uri: str | None, unrevealed: set[str | None]) -> Verdict | None:
    """What speaks against revealing it: its mint may still vanish, its author may be another, it may be revealed already."""
    if author is None:
        return Wait(NOT_FINAL, "Its mint is not final yet")
    if author != wish.author:
        return Wait(DISPUTED, f"The chain names {author} as its author, not {wish.author}: glisk chain replay")
    if uri == wish.uri:
        return Done({"token_uri": uri})
    if uri in unrevealed or uri == wish.claim.row["token_uri"]:
        return None
    log.warning("a token was revealed by somebody else", token_id=str(wish.token_id), uri=uri)
    return Done({"token_uri": uri})
