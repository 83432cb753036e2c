"""Where a picture comes from, signed (EIP-712), so that anybody can check it without asking us."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from glisk import wallets
from glisk.publishing.canonical import LARGEST, canonical, digest
from glisk.publishing.commitment import opens

if TYPE_CHECKING:
    from eth_account.messages import SignableMessage
    from eth_account.signers.local import LocalAccount

SCHEMA = "glisk/provenance/1"
ZERO = "0x" + "00" * 32

Address = Annotated[str, Meta(pattern=r"\A0x[0-9a-f]{40}\Z")]
Hash = Annotated[str, Meta(pattern=r"\A0x[0-9a-f]{64}\Z")]
Instant = Annotated[str, Meta(pattern=r"\A[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}Z\Z")]
Whole = Annotated[str, Meta(pattern=r"\A(0|[1-9][0-9]{0,77})\Z")]  # as text, since few readers of JSON keep 2^256 - 1

# As EIP-712 knows them; all others are text.
TYPES = {
    **dict.fromkeys(("token_id", "seed"), "uint256"),
    **dict.fromkeys(("prompt_commitment", "image_sha256", "receipt_sha256", "content_sha256"), "bytes32"),
    "fallback_used": "bool",
}


class Unsound(Exception):
    """It is not what was signed; the sentence says in which way."""


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of one picture, as the metadata has it. Unknown are an empty text, a seed of 0, a hash of zeros."""

    chain_id: Annotated[int, Meta(ge=1, le=LARGEST)]
    contract: Address
    token_id: Whole
    provider: str
    model: str
    version: str
    seed: Whole
    prompt_commitment: Hash
    fallback_used: bool
    image_cid: str
    image_sha256: Hash  # of the file itself
    receipt_sha256: Hash  # of what the provider calls the order
    created_at: Instant

    def __post_init__(self) -> None:
        if max(int(self.token_id), int(self.seed)) >= 2**256:
            raise ValueError("a number is beyond 2^256")


class Provenance(Manifest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: Literal["glisk/provenance/1"]
    content_sha256: Hash  # of everything else in the metadata
    signer: Address
    signature: Annotated[str, Meta(pattern=r"\A0x[0-9a-f]{130}\Z")]
    prompt_salt: Hash | UnsetType = UNSET


STRUCT = (*Manifest.__struct_fields__[2:], "content_sha256")  # what is signed; chain and contract are in the domain


def signed(
    metadata: dict[str, Any], manifest: Manifest, wallet: LocalAccount, salt: bytes | None = None
) -> dict[str, Any]:
    """The metadata with its provenance. `salt` is told where the prompt itself is public."""
    content = content_of(metadata)
    fields = msgspec.to_builtins(manifest) | {"content_sha256": in_hex(digest(content))}
    signature = wallet.sign_message(signable(fields)).signature
    fields |= {"schema": SCHEMA, "signer": wallet.address.lower(), "signature": in_hex(signature)}
    return content | {"provenance": fields | ({} if salt is None else {"prompt_salt": in_hex(salt)})}


def checked(metadata: Any, chain_id: int, contract: str, token_id: int) -> str:
    """The address of who signed it, in lower case: whether that is who it should be is the caller's question. Raises Unsound,
    and nothing else, whatever it is given."""
    found = provenance_in(metadata)
    require_token(found, chain_id, contract.lower(), token_id)
    content = content_of(metadata)
    if in_hex(digest(content)) != found.content_sha256:
        raise Unsound("its name, attributes or other content was changed after it was signed")
    if content.get("image") != f"ipfs://{found.image_cid}":
        raise Unsound("its image is not the one whose provenance it has")
    require_prompt(found, content.get("prompt"))
    if signer_of(found) != found.signer:
        raise Unsound("its signature is not by the signer it names")
    return found.signer


def content_of(metadata: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key != "provenance"}


def provenance_in(metadata: Any) -> Provenance:
    if not isinstance(metadata, dict):
        raise Unsound("it is no JSON object")
    if "provenance" not in metadata:
        raise Unsound("it has no provenance")
    try:
        canonical(metadata)
        return msgspec.convert(metadata["provenance"], Provenance)
    except ValueError as error:  # of msgspec too
        raise Unsound(f"it, or its provenance, cannot be read: {error}") from None


def require_token(found: Provenance, chain_id: int, contract: str, token_id: int) -> None:
    if int(found.token_id) != token_id:
        raise Unsound(f"it is the provenance of token {found.token_id}")
    if found.chain_id != chain_id:
        raise Unsound(f"it is the provenance of a token on chain {found.chain_id}")
    if found.contract != contract:
        raise Unsound(f"it is the provenance of a token of {found.contract}")


def require_prompt(found: Provenance, prompt: Any) -> None:
    """A prompt that is told must be the one that was committed to."""
    if prompt is None and found.prompt_salt is UNSET:
        return
    commitment, salt = (bytes.fromhex(each[2:]) for each in (found.prompt_commitment, found.prompt_salt or ZERO))
    if not isinstance(prompt, str) or found.prompt_salt is UNSET or not opens(commitment, salt, prompt):
        raise Unsound("its prompt is not the one that was committed to")


def signer_of(found: Provenance) -> str | None:
    """None: it is no signature at all."""
    library = wallets.library()
    from eth_keys.exceptions import BadSignature

    try:
        message = signable(msgspec.to_builtins(found))
        return str(library.Account.recover_message(message, signature=found.signature)).lower()
    except (BadSignature, ValueError):
        return None


def signable(fields: dict[str, Any]) -> SignableMessage:
    domain = {"name": "Glisk", "version": "1", "chainId": fields["chain_id"], "verifyingContract": fields["contract"]}
    struct = [{"name": camel(name), "type": TYPES.get(name, "string")} for name in STRUCT]
    values = {camel(name): typed(name, fields[name]) for name in STRUCT}
    found: SignableMessage = wallets.library().messages.encode_typed_data(domain, {"Provenance": struct}, values)
    return found


def typed(name: str, value: Any) -> Any:
    match TYPES.get(name):
        case "uint256":
            return int(value)
        case "bytes32":
            return bytes.fromhex(value[2:])
        case _:
            return value


def camel(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)


def in_hex(data: bytes) -> str:
    return "0x" + bytes(data).hex()
