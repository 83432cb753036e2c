"""What is stored of our transactions: before anything is sent, and when it is over."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from hashlib import sha256
from typing import Any

from msgspec import Struct

from glisk.chain.sending.asking import Receipt
from glisk.chain.sending.fees import Fees
from glisk.chain.statements import statement
from glisk.engine.claim import Claim, fences
from glisk.engine.link import Link
from glisk.engine.store import Fetch

PROVIDER = "chain"  # as the ledger calls it


class Wallet(Struct, frozen=True):
    """Whose nonces: an address on a chain."""

    chain_id: int
    address: str

    def receipt(self, nonce: int) -> str:
        """How the ledger names it: by the nonce, since of its transactions any may be the one that is mined."""
        return f"{self.chain_id}:{self.address}:{nonce}"


class Content(Struct, frozen=True):
    """What a nonce is for: a call of a contract, for so many tokens."""

    to: str
    data: bytes
    tokens: int

    @property
    def digest(self) -> bytes:
        return sha256(self.to.encode() + self.data).digest()


class Signed(Struct, frozen=True):
    """A transaction, ready to be sent."""

    nonce: int
    hash: bytes
    raw: bytes
    gas_limit: int
    fees: Fees
    content: bytes
    state: str = "live"


class Ended(Struct, frozen=True):
    """How a nonce ended. `hash` and what follows are of the transaction that was mined, if one was."""

    outcome: str  # done, reverted or lost
    hash: bytes | None = None
    gas_used: int = 0
    paid: int = 0

    @property
    def tx(self) -> str | None:
        return f"0x{self.hash.hex()}" if self.hash else None


class Gone(Exception):
    """Some of the claims are somebody else's by now, so nothing was stored."""

    def __init__(self, kept: Collection[int]) -> None:
        super().__init__(f"{len(kept)} are left")
        self.kept = kept


def named_in(receipt: str) -> tuple[Wallet, int]:
    """Whose nonce it is, and which: the key may be another by now."""
    chain_id, address, nonce = receipt.split(":")
    return Wallet(int(chain_id), address), int(nonce)


async def know(link: Link, wallet: Wallet) -> None:
    await link.fetch(statement("know_sender"), wallet.chain_id, wallet.address)


async def saw(link: Link, wallet: Wallet, balance: int, price: int, gas_per_token: int | None = None) -> None:
    """What people want to know of its means."""
    terms = (wallet.chain_id, wallet.address, str(balance), str(price), gas_per_token)
    await link.fetch(statement("saw_sender"), *terms)


async def lock_next(fetch: Fetch, wallet: Wallet) -> int:
    (row,) = await fetch(statement("lock_sender"), wallet.chain_id, wallet.address)
    return int(row["next_nonce"])


async def keep_claims(fetch: Fetch, claims: Sequence[Claim]) -> None:
    """Raises Gone unless all are still ours, and none is on its way; until the transaction ends nobody takes one away."""
    kept = {row["id"] for row in await fetch(statement("keep_claims"), *fences(claims))}
    # Only now: a commit of our own whose answer was lost may have come through while its locks were waited for.
    kept -= {row["item_id"] for row in await fetch(statement("sent_already"), list(kept))}
    if len(kept) < len(claims):
        raise Gone(kept)


async def take(fetch: Fetch, wallet: Wallet, nonce: int, content: Content, claims: Sequence[Claim]) -> None:
    """The nonce is for this, and the ledger says so of every token."""
    terms = (wallet.chain_id, wallet.address, nonce, content.digest, content.to, content.data, content.tokens)
    await fetch(statement("take_nonce"), *terms)
    receipt = wallet.receipt(nonce)
    await fetch(statement("open_reveals"), *fences(claims), PROVIDER, claims[0].worker, receipt)


async def store(fetch: Fetch, wallet: Wallet, signed: Signed, worker: str) -> None:
    fees = (str(signed.fees.most), str(signed.fees.tip))
    terms = (wallet.chain_id, wallet.address, signed.nonce, signed.content, signed.raw, signed.gas_limit, *fees)
    await fetch(statement("store_transaction"), signed.hash, *terms, worker)


async def replace(link: Link, wallet: Wallet, old: Signed, new: Signed, worker: str) -> bool:
    """False: somebody else was faster, so the new one must not be sent."""
    async with link.transaction() as fetch:
        if not await fetch(statement("replace_transaction"), old.hash):
            return False
        await store(fetch, wallet, new, worker)
        return True


async def between(link: Link, wallet: Wallet, first: int, last: int) -> list[Signed]:
    """Every transaction of these nonces."""
    rows = await link.fetch(statement("transactions"), wallet.chain_id, wallet.address, first, last)
    return [as_signed(row) for row in rows]


def as_signed(row: Any) -> Signed:
    fees = Fees(int(row["max_fee_wei"]), int(row["tip_wei"]))
    return Signed(*(row["nonce"], row["hash"], row["raw"], row["gas_limit"], fees, row["content"], row["state"]))


async def content(link: Link, wallet: Wallet, nonce: int) -> Content:
    (row,) = await link.fetch(statement("nonce"), wallet.chain_id, wallet.address, nonce)
    return Content(row["recipient"], row["data"], row["tokens"])


async def ended(link: Link, wallet: Wallet, nonce: int) -> Ended | None:
    """As it was written down, by whomever. None: not yet."""
    (row,) = await link.fetch(statement("nonce"), wallet.chain_id, wallet.address, nonce)
    if row["outcome"] is None:
        return None
    mined = await link.fetch(statement("mined_for"), wallet.chain_id, wallet.address, nonce)
    found = mined[0] if mined else None
    return Ended(row["outcome"], *((found["hash"], found["gas_used"], int(found["paid_wei"])) if found else ()))


async def mine(link: Link, wallet: Wallet, nonce: int, tx_hash: bytes, receipt: Receipt) -> None:
    outcome = "done" if receipt.is_good else "reverted"
    terms = (tx_hash, receipt.block_no, receipt.block_hash, receipt.gas_used, str(receipt.paid), outcome)
    async with link.transaction() as fetch:
        await fetch(statement("retire"), tx_hash, wallet.chain_id, wallet.address, nonce)
        await fetch(statement("mine"), *terms)


async def lose(link: Link, wallet: Wallet, nonce: int) -> None:
    await link.fetch(statement("lose_nonce"), wallet.chain_id, wallet.address, nonce)


async def sent_already(link: Link, claims: Sequence[Claim]) -> dict[int, tuple[int, str]]:
    """By token: the attempt that is open, and its receipt."""
    rows = await link.fetch(statement("sent_already"), [claim.id for claim in claims])
    return {row["item_id"]: (row["attempt_id"], row["receipt"]) for row in rows}


async def shares(link: Link, receipt: str, paid: int) -> dict[int, int]:
    """What each attempt pays of what its transaction cost: all shares together are just that."""
    attempts = [row["attempt_id"] for row in await link.fetch(statement("attempts_of"), receipt)]
    cuts = [paid * place // len(attempts) for place in range(len(attempts) + 1)]
    return {attempt: cuts[place + 1] - cuts[place] for place, attempt in enumerate(attempts)}


def ether(wei: int) -> str:
    """In the chain's coin; next to nothing is told as it is."""
    return f"{Decimal(wei) / 10**18:.6f}".rstrip("0").rstrip(".") if wei >= 10**12 else f"{wei} wei"
