"""One wallet on one chain: what it sends is stored first, followed until no block can take it back, and never sent with other content."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import structlog
from msgspec import Struct

from glisk.chain import calls
from glisk.chain.rpc.call import Rejected
from glisk.chain.rpc.pool import Rpc
from glisk.chain.sending import asking, fees, nonces
from glisk.chain.sending.fees import Fees, Market
from glisk.chain.sending.nonces import Content, Ended, Signed, Wallet, ether
from glisk.engine.claim import Claim
from glisk.engine.link import Link, persistently
from glisk.errors import BalanceTooLow, NonceMissing

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

log = structlog.get_logger()

SPARE = 5  # a fifth more gas than was estimated: by then the contract's state may be another
SOON = 8  # looks
LOST_LOOKS = 10  # in a row that a nonce is used and none of our transactions is in a block, until that is believed


class Rules(Struct, frozen=True):
    """What may be paid for a unit of gas (wei), after how many seconds a transaction is stuck, how deep a block must lie, how often
    one looks, and after how many seconds a transaction is sent once more, in case it was forgotten."""

    most: int
    stuck_after: float
    confirmations: int
    poll: float = 1.0
    again_after: float = 10.0

    def rest(self, looks: int) -> float:
        """Between looks: short at first, for whoever watches; then longer, for whoever pays the node."""
        return min(self.poll * 1.5 ** max(0, min(looks, 20) - SOON), self.poll * 10)


class Sent(Struct, frozen=True):
    """When this process has sent a transaction, first and last."""

    nonce: int
    first: float
    last: float


class Means(Struct, frozen=True):
    """What the wallet has, what gas costs, and how many transactions of it are in blocks."""

    balance: int
    market: Market
    count: int


class Sight(Struct, frozen=True):
    """How a nonce looks from one node: how many of the wallet's are used, the newest block that stays, and our receipts."""

    count: int
    market: Market
    settled: int
    receipts: Sequence[tuple[Signed, asking.Receipt]]


class Sender:
    """Without its account, what is stored of a wallet whose key is another by now is still followed, and sent again as it is."""

    def __init__(self, rpc: Rpc, wallet: Wallet, rules: Rules, account: LocalAccount | None = None) -> None:
        self.rpc, self.wallet, self.rules, self.account = rpc, wallet, rules, account
        self.following: dict[int, asyncio.Task[Ended]] = {}  # by nonce
        self.waiting = Counter[asyncio.Task[Ended]]()  # for it
        self.sent: dict[bytes, Sent] = {}
        self.told = set[bytes]()  # of which people know that they wait

    # Storing

    async def means(self, link: Link, gas_per_token: int | None = None) -> Means:
        """Written down for people, with what a token takes, if that is known anew."""
        address = self.wallet.address
        asked = (asking.balance(address), asking.nonce(address), *asking.market())
        balance, count, base, tip = (await self.rpc.ask(*asked)).results
        found = Means(balance, asking.as_market(base, tip), count)
        await nonces.know(link, self.wallet)
        await nonces.saw(link, self.wallet, balance, found.market.price, gas_per_token)
        return found

    async def store(self, link: Link, content: Content, gas: int, claims: Sequence[Claim]) -> int:
        """The nonce under which it will be sent: from here on it is on its way, whoever dies. Raises FeeTooHigh, BalanceTooLow and Gone."""
        means, limit = await self.means(link, gas // content.tokens), gas + gas // SPARE
        offer = fees.offered(means.market, self.rules.most)
        self.require(means.balance, limit * offer.most)
        async with link.transaction() as fetch:
            await nonces.keep_claims(fetch, claims)
            # Not what is pending: if that is somebody else's and vanishes, all of ours would wait behind the gap for ever.
            nonce = max(await nonces.lock_next(fetch, self.wallet), means.count)
            signed = self.signed(nonce, content, limit, offer)
            await nonces.take(fetch, self.wallet, nonce, content, claims)
            await nonces.store(fetch, self.wallet, signed, claims[0].worker)
        log.info("transaction stored", nonce=nonce, tokens=content.tokens, hash=f"0x{signed.hash.hex()}")
        return nonce

    def require(self, balance: int, needed: int) -> None:
        if balance < needed:
            has = f"{self.wallet.address} on chain {self.wallet.chain_id} has {ether(balance)}"
            raise BalanceTooLow(f"{has}; the next transaction may take {ether(needed)}.")

    def signed(self, nonce: int, content: Content, gas_limit: int, offer: Fees) -> Signed:
        transaction: dict[str, Any] = {
            "type": 2,
            "chainId": self.wallet.chain_id,
            "nonce": nonce,
            "to": checksummed(content.to),
            "value": 0,
            "data": content.data,
            "gas": gas_limit,
            "maxFeePerGas": offer.most,
            "maxPriorityFeePerGas": offer.tip,
        }
        assert self.account, "only the keeper of today signs"
        done = self.account.sign_transaction(transaction)
        return Signed(nonce, bytes(done.hash), bytes(done.raw_transaction), gas_limit, offer, content.digest)

    # Following

    async def ended(self, link: Link, nonce: int, worker: str) -> Ended:
        """How it ended, once that is final. Several who ask wait for the same; when all have left, others will see to it."""
        if nonce not in self.following:
            self.following[nonce] = asyncio.create_task(self.follow(link, nonce, worker))
        task = self.following[nonce]
        self.waiting[task] += 1
        try:
            return await asyncio.shield(task)
        finally:
            self.waiting[task] -= 1
            if not self.waiting[task]:
                self.leave(nonce, task)

    def leave(self, nonce: int, task: asyncio.Task[Ended]) -> None:
        task.cancel()
        del self.waiting[task]
        if self.following.get(nonce) is task:
            del self.following[nonce]

    async def follow(self, link: Link, nonce: int, worker: str) -> Ended:
        looks, vain, gaps, was_used = 0, 0, 0, False
        while True:
            if found := await persistently(lambda: nonces.ended(link, self.wallet, nonce), "look at a nonce"):
                self.sent = {tx: sent for tx, sent in self.sent.items() if sent.nonce > nonce}
                return found
            sight = await self.look(link, nonce)
            is_used = bool(sight.receipts) or sight.count > nonce
            if was_used and not is_used:
                self.sent.clear()  # its block was replaced: the node may have forgotten what was in it
                looks = 0
            vain, was_used = vain + 1 if is_used and not sight.receipts else 0, is_used
            if sight.receipts:
                await self.settle(link, nonce, sight)
            elif is_used:
                await self.give_up(link, nonce, vain, sight)
            else:
                gaps = 0 if await self.press(link, nonce, sight, worker) else gaps + 1
                self.require_no_gap(gaps, sight.count, nonce)
            await asyncio.sleep(self.rules.rest(looks))
            looks += 1

    async def look(self, link: Link, nonce: int) -> Sight:
        """All from one node, which may be behind, but does not contradict itself."""
        sent = await persistently(lambda: nonces.between(link, self.wallet, nonce, nonce), "read transactions")
        asked = (asking.nonce(self.wallet.address), *asking.market(), calls.block(calls.LATEST), calls.tagged("safe"))
        answer = await self.rpc.ask(*asked, *(asking.receipt(each.hash) for each in sent))
        count, base, tip, head, safe, *receipts = answer.results
        settled = asking.settled_block(head.number, safe and safe.number, self.rules.confirmations)
        found = [(each, receipt) for each, receipt in zip(sent, receipts, strict=True) if receipt]
        return Sight(count, asking.as_market(base, tip), settled, found)

    async def settle(self, link: Link, nonce: int, sight: Sight) -> None:
        """Once its block stays."""
        (signed, receipt), *_ = sight.receipts
        if receipt.block_no <= sight.settled:
            await persistently(lambda: nonces.mine(link, self.wallet, nonce, signed.hash, receipt), "write receipt")

    async def give_up(self, link: Link, nonce: int, looks: int, sight: Sight) -> None:
        """Somebody else has the key, and has used it; or the node is about to tell; or a reorganisation gives it back."""
        if looks >= LOST_LOOKS and await self.is_used(nonce, max(sight.settled, 0)):
            log.error("a nonce was used by a transaction that is not ours", wallet=self.wallet.address, nonce=nonce)
            await persistently(lambda: nonces.lose(link, self.wallet, nonce), "write a lost nonce")

    async def is_used(self, nonce: int, block: int) -> bool:
        """At a block that stays."""
        (count,) = (await self.rpc.ask(asking.nonce(self.wallet.address, block))).results
        return int(count) > nonce

    async def press(self, link: Link, nonce: int, sight: Sight, worker: str) -> bool:
        """No block has it: every transaction up to this one must be with the node, and the one whose turn it is must pay enough.
        False: that one is not ours."""
        waiting = await persistently(lambda: nonces.between(link, self.wallet, sight.count, nonce), "read transactions")
        for signed in waiting:
            if signed.state in ("live", "mined"):
                is_enough = await self.send(signed)
                is_next = signed.nonce == sight.count and signed.state == "live"
                if is_next and not (is_enough and self.has_time(signed)):
                    await self.raise_fee(link, signed, sight.market, worker)
        return any(signed.nonce == sight.count for signed in waiting)

    def require_no_gap(self, gaps: int, count: int, nonce: int) -> None:
        """A transaction that was not ours was in a block when we took the next nonce, and is in none any more; or the node is behind."""
        if gaps >= LOST_LOOKS:
            raise NonceMissing(f"{self.wallet.address} on chain {self.wallet.chain_id}: {count}, before our {nonce}.")

    async def send(self, signed: Signed) -> bool:
        """Now and then once more: a node may have forgotten it. False: it offers too little."""
        now, before = time.monotonic(), self.sent.get(signed.hash)
        if before and now - before.last < self.rules.again_after:
            return True
        self.sent[signed.hash] = Sent(signed.nonce, before.first if before else now, now)
        try:
            await self.rpc.ask(asking.send(signed.raw))
        except Rejected as rejection:
            return self.bears(rejection, signed)
        log.info("transaction sent", nonce=signed.nonce, hash=f"0x{signed.hash.hex()}")
        return True

    def has_time(self, signed: Signed) -> bool:
        """It has not been with the nodes for long, as far as this process knows."""
        sent = self.sent.get(signed.hash)
        return sent is None or time.monotonic() - sent.first < self.rules.stuck_after

    def bears(self, rejection: Rejected, signed: Signed) -> bool:
        """What the node has, or what a block has, is as good as sent; the next look tells."""
        if rejection.why == "funds":
            self.sent.pop(signed.hash, None)
            raise BalanceTooLow(f"{self.wallet.address} on chain {self.wallet.chain_id}: {rejection}.")
        if rejection.why == "content":
            log.error("a node refuses a transaction of ours", nonce=signed.nonce, said=str(rejection))
        return rejection.why != "fee"

    async def raise_fee(self, link: Link, old: Signed, market: Market, worker: str) -> None:
        offer = fees.raised(old.fees, market, self.rules.most) if self.account else None
        if not offer:
            return self.tell_of_waiting(old, market)
        content = await persistently(lambda: nonces.content(link, self.wallet, old.nonce), "read content")
        new = self.signed(old.nonce, content, old.gas_limit, offer)
        if await nonces.replace(link, self.wallet, old, new, worker):
            log.warning(
                "a transaction was stuck: sending it with a higher fee", nonce=old.nonce, gwei=fees.gwei(offer.most)
            )
            await self.send(new)
        return None

    def tell_of_waiting(self, signed: Signed, market: Market) -> None:
        """Once: it may wait for hours."""
        if signed.hash not in self.told:
            self.told.add(signed.hash)
            log.warning(
                "a transaction waits for gas to become cheaper", nonce=signed.nonce, gwei=fees.gwei(market.price)
            )

    async def close(self) -> None:
        following = list(self.following.values())
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        await self.rpc.close()


def checksummed(address: str) -> str:
    from eth_utils.address import to_checksum_address

    return str(to_checksum_address(address))
