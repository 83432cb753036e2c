"""Every token of a collection, several at once; of each only the verdict stays in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import islice
from typing import TypeAlias

from glisk.chain import calls
from glisk.chain.mint import Contract
from glisk.chain.rpc.endpoint import together
from glisk.chain.rpc.pool import Rpc
from glisk.chain.sending import asking
from glisk.errors import NotFollowable
from glisk.verifying.checking import Check
from glisk.verifying.gateways import Gateway, Patience, reached
from glisk.verifying.ids import Ids
from glisk.verifying.signers import with_signers
from glisk.verifying.verdict import Problem, Report, Verdict

PAGE = 100  # URIs that are asked for at once
Uri: TypeAlias = tuple[int, str | None, bool]  # of a token: None where there is none, and whether it is revealed
Told: TypeAlias = Callable[[int, int], None]  # tokens that are done, of how many


class Uncounted(Exception):
    """The contract does not say which tokens there are. `supply`: how many it says there are, if it does."""

    def __init__(self, supply: int | None) -> None:
        self.supply = supply


async def verified(
    rpc: Rpc,
    contract: Contract,
    ids: Ids | None,
    gateways: Sequence[str],
    *,
    signer: str | None = None,
    at_once: int = 16,
    patience: Patience | None = None,
    told: Told = lambda done, total: None,
) -> Report:
    """Without `ids`, all of them: raises Uncounted where nobody knows which those are."""
    wanted = await known(rpc, contract, ids)
    async with reached(gateways, patience or Patience()) as asked:
        verdicts = await Run(rpc, contract, asked, wanted, told).verdicts(at_once)
    judged, by = with_signers(verdicts, signer)
    return Report(contract=contract, verdicts=judged, gateways=gateways, signer=by)


async def known(rpc: Rpc, contract: Contract, ids: Ids | None) -> Ids:
    asked = calls.code(contract, calls.LATEST), calls.next_token_id(contract, calls.LATEST)
    code, following, supply = (await rpc.ask(*asked, calls.total_supply(contract, calls.LATEST))).results
    if code == b"":
        raise NotFollowable(f"{contract} has no code: there is no contract at this address.")
    if ids is not None:
        return ids
    if following is None:
        raise Uncounted(supply)
    return Ids.of([(1, following - 1)])


class Run:
    """Through all tokens."""

    def __init__(self, rpc: Rpc, contract: Contract, gateways: Sequence[Gateway], ids: Ids, told: Told) -> None:
        self.rpc, self.contract, self.gateways, self.ids, self.told = rpc, contract, gateways, ids, told
        self.found: list[Verdict] = []

    async def verdicts(self, at_once: int) -> list[Verdict]:
        source, turn = self.uris(), asyncio.Lock()

        async def work() -> None:
            while True:
                async with turn:
                    uri = await anext(source, None)
                if uri is None:
                    return
                self.found.append(await self.verdict(uri))
                self.told(len(self.found), self.ids.count)

        await together([work() for _ in range(at_once)])
        return sorted(self.found, key=lambda verdict: verdict.token_id)

    async def uris(self) -> AsyncIterator[Uri]:
        (placeholder,) = (await self.rpc.ask(asking.placeholder_of(self.contract.address))).results
        for page in pages(self.ids, PAGE):
            asked = [asking.uri_of(self.contract.address, token_id) for token_id in page]
            for token_id, uri in zip(page, (await self.rpc.ask(*asked)).results, strict=True):
                yield token_id, uri, uri not in ("", placeholder)

    async def verdict(self, asked: Uri) -> Verdict:
        token_id, uri, is_revealed = asked
        if uri is None:
            problem = Problem(kind="missing", what="URI", why="the contract shows none: there is no such token")
            return Verdict(token_id=token_id, uri=None, problems=[problem])
        if not is_revealed:
            return Verdict(token_id=token_id, uri=uri, is_revealed=False)
        return await Check(self.gateways, self.contract, token_id).verdict(uri)


def pages(ids: Iterable[int], size: int) -> Iterable[list[int]]:
    rest = iter(ids)
    return iter(lambda: list(islice(rest, size)), [])
