"""Has this wallet signed it? An account by its key; a contract is asked itself (ERC-1271)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from glisk import wallets
from glisk.errors import SignatureWrong

# Asks the contract at an address on a chain: is this signature of this digest one of its own? It raises when nobody can say.
Ask: TypeAlias = Callable[[int, str, bytes, bytes], Awaitable[bool]]

LONGEST = 8192  # bytes: many owners of one wallet have room in it
LENGTH = 65  # of an account's
HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0  # of the curve's order; the other half is the same again
NOT_YET_THERE = bytes.fromhex("6492" * 16)  # how a signature of a wallet ends that is not deployed (ERC-6492)


async def require(chain_id: int, wallet: str, digest: bytes, signature: bytes, ask: Ask) -> None:
    """Raises SignatureWrong. A key comes first: an account that has lent itself code (EIP-7702) still has it."""
    if signature.endswith(NOT_YET_THERE):
        raise SignatureWrong(
            f"{wallet} is a wallet that is not on chain {chain_id} yet.",
            fix="Deploy it first, by sending any transaction from it; then sign again.",
        )
    if signer(digest, signature) != wallet and not await ask(chain_id, wallet, digest, signature):
        raise SignatureWrong


def signer(digest: bytes, signature: bytes) -> str | None:
    """Whose key it is, in lower case. None: it is no signature of a key, or one of the two ways to write it that is not used."""
    if len(signature) != LENGTH or signature[64] not in (0, 1, 27, 28):
        return None
    r, s = (int.from_bytes(signature[n : n + 32], "big") for n in (0, 32))
    return recovered(digest, signature[64] % 27, r, s) if 0 < s <= HALF and r else None


def recovered(digest: bytes, v: int, r: int, s: int) -> str | None:
    wallets.library()
    from eth_keys.datatypes import Signature
    from eth_keys.exceptions import BadSignature
    from eth_utils.exceptions import ValidationError

    try:
        return Signature(vrs=(v, r, s)).recover_public_key_from_msg_hash(digest).to_address()
    except (BadSignature, ValidationError):
        return None
