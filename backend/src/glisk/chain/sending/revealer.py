"""Tokens of one collection in, verdicts out: looked at, revealed in one transaction, followed to the end, and read back."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from msgspec import Struct

from glisk.chain.mint import Contract
from glisk.chain.sending import asking, nonces
from glisk.chain.sending.keepers import Keepers
from glisk.chain.sending.nonces import Content, Ended, Gone
from glisk.chain.sending.preflight import Preflight, Wish
from glisk.chain.sending.sender import Sender
from glisk.engine.claim import Claim
from glisk.engine.decide import Closing, Done, Retry, Verdict, Wait
from glisk.engine.link import Link, persistently

log = structlog.get_logger()

AUTHORS = "SELECT author_id, wallet_address FROM authors WHERE author_id = ANY ($1::integer[])"


class Closed(Struct, frozen=True):
    """An attempt that is over, and what it cost. `is_of_old`: what was sent is not the picture that the token has by now."""

    attempt: int
    details: dict[str, Any]
    is_of_old: bool

    def retry(self, said: str) -> Verdict:
        closes = Closing(self.attempt, "failed", error=said, details=self.details)
        return Retry(said, category="chain", closes=closes)


class Revealer:
    def __init__(self, keepers: Keepers, sender: Sender, contract: Contract) -> None:
        self.keepers, self.sender, self.contract = keepers, sender, contract
        self.preflight = Preflight(sender.rpc, contract, sender.wallet.address, sender.rules.confirmations)

    async def reveal(self, claims: Sequence[Claim]) -> list[Verdict]:
        """One for each, in order. After a lost connection it starts over: what was stored is found, and not sent again."""
        link = claims[0].link
        verdicts = await persistently(lambda: self.revealed(link, claims), "reveal")
        return [verdicts.get(claim.id, Wait()) for claim in claims]  # one that is missing is somebody else's by now

    async def revealed(self, link: Link, claims: Sequence[Claim]) -> dict[int, Verdict]:
        on_the_way = await nonces.sent_already(link, claims)
        fresh = [claim for claim in claims if claim.id not in on_the_way]
        verdicts = await self.stored(link, fresh) if fresh else {}
        if len(verdicts) < len(fresh):
            on_the_way = await nonces.sent_already(link, claims)
        by_nonce = defaultdict[str, list[Claim]](list)
        for claim in claims:
            if claim.id in on_the_way:
                by_nonce[on_the_way[claim.id][1]].append(claim)
        followed = [self.follow(link, receipt, some, on_the_way) for receipt, some in by_nonce.items()]
        for found in await asyncio.gather(*followed):
            verdicts |= found
        return verdicts

    async def stored(self, link: Link, claims: Sequence[Claim]) -> dict[int, Verdict]:
        """Of those for which nothing is to be sent; for the others it is stored."""
        wishes = await self.wishes(link, claims)
        cleared = await self.preflight.cleared(wishes)
        if not cleared.wishes:
            return cleared.verdicts
        data = asking.revealing([(wish.token_id, wish.uri) for wish in cleared.wishes])
        content = Content(self.contract.address, data, len(cleared.wishes))
        chosen = [wish.claim for wish in cleared.wishes]
        try:
            await self.sender.store(link, content, cleared.gas, chosen)
        except Gone as gone:  # the rest, without those whom somebody has taken away
            kept = [claim for claim in chosen if claim.id in gone.kept]
            return cleared.verdicts | (await self.stored(link, kept) if kept else {})
        return cleared.verdicts

    async def wishes(self, link: Link, claims: Sequence[Claim]) -> list[Wish]:
        rows = await link.fetch(AUTHORS, [claim.row["author_id"] for claim in claims])
        wallets = {row["author_id"]: row["wallet_address"] for row in rows}
        return [
            Wish(claim, int(claim.row["token_id"]), uri_of(claim), wallets[claim.row["author_id"]]) for claim in claims
        ]

    async def follow(
        self, link: Link, receipt: str, claims: Sequence[Claim], attempts: dict[int, tuple[int, str]]
    ) -> dict[int, Verdict]:
        wallet, nonce = nonces.named_in(receipt)
        ended = await (await self.keepers.at(wallet)).ended(link, nonce, claims[0].worker)
        content = await nonces.content(link, wallet, nonce)
        asked = [asking.uri_of(self.contract.address, int(claim.row["token_id"])) for claim in claims]
        uris = (await self.sender.rpc.ask(*asked)).results
        shares = await nonces.shares(link, receipt, ended.paid)
        found: dict[int, Verdict] = {}
        for claim, uri in zip(claims, uris, strict=True):
            attempt, _ = attempts[claim.id]
            told, is_of_old = details(ended, shares[attempt], content), uri_of(claim).encode() not in content.data
            found[claim.id] = verdict(claim, ended, uri, Closed(attempt, told, is_of_old))
        return found


def verdict(claim: Claim, ended: Ended, uri: str | None, closed: Closed) -> Verdict:
    """Read back: what counts is what the chain says of the token now."""
    if ended.outcome == "lost":
        return closed.retry("Somebody else has used the nonce of its transaction")
    if ended.outcome == "reverted":
        return closed.retry("Its transaction reverted")
    if not uri:
        return closed.retry("The chain does not show what was revealed")
    facts, closes = {"token_uri": uri, "reveal_tx": ended.hash}, Closing(closed.attempt, "done", details=closed.details)
    if uri == uri_of(claim):
        return Done(facts, closes)
    if closed.is_of_old:
        return Retry("It was revealed with an earlier picture", after=timedelta(), facts=facts, closes=closes)
    log.warning("a token shows another URI than ours", token_id=str(claim.row["token_id"]), uri=uri)
    return Done({"token_uri": uri}, closes)


def details(ended: Ended, wei: int, content: Content) -> dict[str, Any]:
    """For the ledger, and for people."""
    return {"tx": ended.tx, "gas": ended.gas_used // content.tokens, "batch": content.tokens, "wei": str(wei)}


def uri_of(claim: Claim) -> str:
    return f"ipfs://{claim.row['metadata_cid']}"
