"""What does an author sign? A prompt of theirs, for one collection, once, until a moment (EIP-712)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from glisk import wallets

if TYPE_CHECKING:
    from eth_account.messages import SignableMessage

NAME, VERSION = "Glisk", "1"
DISCLOSURES = ("", "now", "later", "never")  # the first: as it was chosen before
DOMAIN = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}
PROMPT = {"author": "address", "prompt": "string", "disclosure": "string", "nonce": "uint256", "deadline": "uint256"}


class Prompt(Struct, frozen=True):
    """Addresses in lower case. `nonce`: each counts once, so that nobody can publish an old prompt again. `deadline`: the last second,
    since 1970, in which it can be published."""

    chain_id: int
    contract: str
    author: str
    prompt: str
    disclosure: str
    nonce: int
    deadline: int

    @property
    def domain(self) -> dict[str, Any]:
        return {"name": NAME, "version": VERSION, "chainId": self.chain_id, "verifyingContract": self.contract}

    @property
    def message(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in PROMPT}


def document(prompt: Prompt) -> dict[str, Any]:
    """As wallets take it (eth_signTypedData_v4). Numbers that may be large are text there."""
    numbers = {"nonce": str(prompt.nonce), "deadline": str(prompt.deadline)}
    return {
        "types": {"EIP712Domain": members(DOMAIN), "Prompt": members(PROMPT)},
        "primaryType": "Prompt",
        "domain": prompt.domain,
        "message": prompt.message | numbers,
    }


def digest(prompt: Prompt) -> bytes:
    """The 32 bytes that are signed."""
    message = signable(prompt)
    from eth_utils.crypto import keccak

    return bytes(keccak(b"\x19" + message.version + message.header + message.body))


def signable(prompt: Prompt) -> SignableMessage:
    found: SignableMessage = wallets.library().messages.encode_typed_data(
        prompt.domain, {"Prompt": members(PROMPT)}, prompt.message
    )
    return found


def members(types: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "type": kind} for name, kind in types.items()]
