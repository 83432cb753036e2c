"""Whoever changes a signed provenance, or what it speaks of, is found out."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_utils.crypto import keccak
from hypothesis import given, settings
from hypothesis import strategies as st

from glisk.publishing.canonical import canonical
from glisk.publishing.commitment import commitment, opens, salt_of
from glisk.publishing.manifest import ZERO, Manifest, Unsound, checked, in_hex, signable, signed

CHAIN, CONTRACT, TOKEN = 31337, "0x" + "c0" * 20, 2**256 - 1
WALLET = Account.from_key("0x" + "11" * 32)
SALT, PROMPT = bytes(range(32)), "A fox in the snow, {curly}"
MANIFEST = Manifest(
    chain_id=CHAIN,
    contract=CONTRACT,
    token_id=str(TOKEN),
    provider="replicate",
    model="owner/name",
    version="ab" * 32,
    seed="12345",
    prompt_commitment=in_hex(commitment(SALT, PROMPT)),
    fallback_used=False,
    image_cid="bafkreiimage",
    image_sha256="0x" + "22" * 32,
    receipt_sha256="0x" + "33" * 32,
    created_at="2026-08-21T12:00:00Z",
)
METADATA: dict[str, Any] = {
    "name": "Glisk #1",
    "image": "ipfs://bafkreiimage",
    "attributes": [{"trait_type": "Model", "value": "owner/name"}, {"value": 3}],
}
SIGNED = signed(METADATA, MANIFEST, WALLET)
TOLD = signed(METADATA | {"prompt": PROMPT}, MANIFEST, WALLET, SALT)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def unsound(metadata: Any) -> str:
    with pytest.raises(Unsound) as found:
        checked(metadata, CHAIN, CONTRACT, TOKEN)
    return str(found.value)


def with_provenance(**changes: Any) -> dict[str, Any]:
    return SIGNED | {"provenance": SIGNED["provenance"] | changes}


def test_what_was_signed_is_sound_after_a_journey_as_json() -> None:
    for metadata in (SIGNED, TOLD):
        assert (
            checked(json.loads(canonical(metadata)), CHAIN, CONTRACT.upper().replace("0X", "0x"), TOKEN)
            == WALLET.address.lower()
        )


def test_the_same_is_signed_alike() -> None:
    assert canonical(signed(dict(reversed(METADATA.items())), MANIFEST, WALLET)) == canonical(SIGNED)


def test_the_hash_is_the_one_that_eip_712_describes() -> None:
    """Computed by hand, from the text of the standard."""
    found = SIGNED["provenance"]
    names = (
        "uint256 tokenId,string provider,string model,string version,uint256 seed,bytes32 promptCommitment,bool fallbackUsed,"
        "string imageCid,bytes32 imageSha256,bytes32 receiptSha256,string createdAt,bytes32 contentSha256"
    )
    texts = {name: keccak(text=found[name]) for name in ("provider", "model", "version", "image_cid", "created_at")}
    hashes = {name: bytes.fromhex(found[name][2:]) for name in found if name.endswith(("sha256", "commitment"))}
    values: list[bytes | int] = [
        *(keccak(text=f"Provenance({names})"), TOKEN, texts["provider"], texts["model"], texts["version"], 12345),
        *(hashes["prompt_commitment"], False, texts["image_cid"], hashes["image_sha256"], hashes["receipt_sha256"]),
        *(texts["created_at"], hashes["content_sha256"]),
    ]
    kinds = [{bytes: "bytes32", bool: "bool", int: "uint256"}[type(value)] for value in values]
    domain_type = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    domain = encode(
        ["bytes32", "bytes32", "bytes32", "uint256", "address"],
        [keccak(text=domain_type), keccak(text="Glisk"), keccak(text="1"), CHAIN, CONTRACT],
    )
    digest = keccak(b"\x19\x01" + keccak(domain) + keccak(encode(kinds, values)))
    message = signable(found)
    assert keccak(b"\x19" + message.version + message.header + message.body) == digest
    assert Account._recover_hash(digest, signature=found["signature"]) == WALLET.address


@pytest.mark.parametrize(
    "name", [name for name in SIGNED["provenance"] if name not in ("schema", "signature", "signer")]
)
def test_no_field_can_be_changed(name: str) -> None:
    value = SIGNED["provenance"][name]
    changed = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value[:-1] + "1"
    others: list[Any] = [changed, None, [], "x"]
    for other in others:
        unsound(with_provenance(**{name: other}))
    without = copy.deepcopy(SIGNED)
    del without["provenance"][name]
    assert "cannot be read" in unsound(without)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (METADATA, "it has no provenance"),
        ([SIGNED], "no JSON object"),
        (SIGNED | {"name": "Glisk #2"}, "content was changed after it was signed"),
        (SIGNED | {"attributes": []}, "content was changed after it was signed"),
        (SIGNED | {"new": None}, "content was changed after it was signed"),
        (with_provenance(token_id="7"), "it is the provenance of token 7"),
        (with_provenance(chain_id=1), "a token on chain 1"),
        (with_provenance(contract="0x" + "11" * 20), "a token of 0x1111"),
        (with_provenance(signer="0x" + "11" * 20), "not by the signer it names"),
        (with_provenance(signature="0x" + "ff" * 65), "not by the signer it names"),
        (with_provenance(seed="0"), "not by the signer it names"),
        (with_provenance(seed=str(2**256)), "cannot be read"),
        (with_provenance(model="\ud800"), "cannot be read"),
        (with_provenance(note="approved"), "cannot be read"),
        (with_provenance(prompt_salt=ZERO), "its prompt is not the one that was committed to"),
        (signed(METADATA | {"image": "ipfs://other"}, MANIFEST, WALLET), "its image is not the one"),
        (signed(METADATA | {"prompt": "Another"}, MANIFEST, WALLET, SALT), "its prompt is not the one"),
        (signed(METADATA | {"prompt": PROMPT}, MANIFEST, WALLET), "its prompt is not the one"),
        (signed(METADATA | {"prompt": 5}, MANIFEST, WALLET, SALT), "its prompt is not the one"),
    ],
)
def test_it_says_what_is_wrong(metadata: Any, said: str) -> None:
    assert said in unsound(metadata)


@given(JSON)
def test_whatever_json_it_is_given_is_unsound_and_nothing_else(value: Any) -> None:
    for metadata in (value, METADATA | {"provenance": value}, SIGNED | {"name": [value]}):
        unsound(metadata)


@settings(max_examples=25)
@given(st.binary(min_size=65, max_size=65))
def test_no_made_up_signature_is_sound(signature: bytes) -> None:
    unsound(with_provenance(signature=in_hex(signature)))


@given(st.text(st.characters(exclude_categories=["Cs"])), st.binary(min_size=32, max_size=32))
def test_a_commitment_is_opened_by_its_prompt_and_salt_alone(prompt: str, key: bytes) -> None:
    salt = salt_of(key, CHAIN, CONTRACT, TOKEN, prompt)
    assert salt == salt_of(key, CHAIN, CONTRACT, TOKEN, prompt)
    assert opens(commitment(salt, prompt), salt, prompt)
    assert not opens(commitment(salt, prompt), salt, prompt + " ")
    assert not opens(commitment(salt, prompt), salt[::-1] + b"\0", prompt)
    assert salt != salt_of(key, CHAIN, CONTRACT, TOKEN - 1, prompt)


def test_a_manifest_has_no_room_for_numbers_beyond_the_chain() -> None:
    with pytest.raises(ValueError, match="beyond"):
        msgspec.structs.replace(MANIFEST, seed=str(2**256))
