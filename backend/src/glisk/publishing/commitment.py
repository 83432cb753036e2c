"""A prompt that is not told yet, and cannot be changed any more: its hash with a salt, which only we know until it is told."""

from __future__ import annotations

import hmac
from hashlib import sha256


def commitment(salt: bytes, prompt: str) -> bytes:
    return sha256(salt + prompt.encode()).digest()


def salt_of(key: bytes, chain_id: int, contract: str, token_id: int, prompt: str) -> bytes:
    """Made from the key, not drawn: whoever tries again makes the same file. Nobody without the key can guess prompts with it."""
    name = f"{chain_id}:{contract}:{token_id}:{sha256(prompt.encode()).hexdigest()}"
    return hmac.digest(key, name.encode(), sha256)


def opens(promised: bytes, salt: bytes, prompt: str) -> bool:
    return hmac.compare_digest(promised, commitment(salt, prompt))
