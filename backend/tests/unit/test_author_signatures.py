"""Whose signature it is: the author's, of exactly this, and of nothing else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given
from hypothesis import strategies as st

from glisk.authors import signatures, typed_data
from glisk.authors.typed_data import Prompt
from glisk.errors import SignatureWrong
from tests.authors import Wallet, a_prompt

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
PLAIN = a_prompt(deadline=2_000_000_000)
SIGNATURE = bytes.fromhex(Wallet().sign(typed_data.document(PLAIN))[2:])
DIGEST = typed_data.digest(PLAIN)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
prompts = st.builds(
    Prompt,
    chain_id=st.integers(1, 2**53),
    contract=st.binary(min_size=20, max_size=20).map(lambda raw: f"0x{raw.hex()}"),
    author=st.just(Wallet().address),
    prompt=texts,
    disclosure=st.sampled_from(typed_data.DISCLOSURES),
    nonce=st.integers(0, 2**60),
    deadline=st.integers(0, 2**60),
)


@given(prompts)
def test_what_a_wallet_signs_is_what_we_check(prompt: Prompt) -> None:
    signature = bytes.fromhex(Wallet().sign(typed_data.document(prompt))[2:])
    assert signatures.signer(typed_data.digest(prompt), signature) == Wallet().address


@given(prompts, prompts)
def test_two_prompts_have_one_digest_only_if_they_are_the_same(one: Prompt, other: Prompt) -> None:
    assert (typed_data.digest(one) == typed_data.digest(other)) is (one == other)


def test_the_type_is_the_one_that_is_documented() -> None:
    said = encode_typed_data(full_message=typed_data.document(PLAIN))
    assert Account.recover_message(said, signature=SIGNATURE).lower() == Wallet().address
    assert list(typed_data.PROMPT.items()) == [
        ("author", "address"),
        ("prompt", "string"),
        ("disclosure", "string"),
        ("nonce", "uint256"),
        ("deadline", "uint256"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"chain_id": 1},
        {"contract": "0x" + "c1" * 20},
        {"author": "0x" + "11" * 20},
        {"prompt": "A fox in the snow "},
        {"disclosure": "now"},
        {"nonce": 2},
        {"deadline": 2_000_000_001},
    ],
)
def test_whatever_is_changed_is_not_signed(change: dict[str, Any]) -> None:
    other = typed_data.digest(msgspec.structs.replace(PLAIN, **change))
    assert signatures.signer(other, SIGNATURE) != Wallet().address


def test_both_ways_to_number_the_last_byte_are_known() -> None:
    assert SIGNATURE[64] in (27, 28)
    assert signatures.signer(DIGEST, SIGNATURE[:64] + bytes([SIGNATURE[64] - 27])) == Wallet().address


def the_other_half() -> bytes:
    r, s, v = SIGNATURE[:32], int.from_bytes(SIGNATURE[32:64], "big"), SIGNATURE[64]
    return r + (ORDER - s).to_bytes(32, "big") + bytes([27 + 28 - v])


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        SIGNATURE[:64],
        SIGNATURE + b"\0",
        SIGNATURE[:64] + b"\x02",
        SIGNATURE[:64] + b"\x1d",
        the_other_half(),
        bytes(65),
        bytes(32) + SIGNATURE[32:],
        SIGNATURE[:32] + bytes(32) + SIGNATURE[64:],
        b"\xff" * 64 + b"\x1b",
        b"\xff" * 32 + SIGNATURE[32:],
    ],
)
def test_what_is_no_signature_is_nobodys(wrong: bytes) -> None:
    assert signatures.signer(DIGEST, wrong) is None


@given(st.binary(max_size=80))
def test_any_bytes_are_answered(raw: bytes) -> None:
    assert signatures.signer(DIGEST, raw) != Wallet().address


async def test_a_key_is_enough_and_the_chain_is_not_asked() -> None:
    async def nobody(*_: object) -> bool:
        raise AssertionError

    await signatures.require(1, Wallet().address, DIGEST, SIGNATURE, nobody)


async def test_whoever_has_no_such_key_is_asked() -> None:
    asked: list[tuple[int, str, bytes, bytes]] = []

    async def answering(*question: Any) -> bool:
        asked.append(question)
        return len(asked) == 1

    wallet = "0x" + "11" * 20
    await signatures.require(8453, wallet, DIGEST, b"its own", answering)
    assert asked == [(8453, wallet, DIGEST, b"its own")]
    with pytest.raises(SignatureWrong):
        await signatures.require(8453, wallet, DIGEST, b"its own", answering)


async def test_a_wallet_that_is_not_there_yet_is_told_what_to_do() -> None:
    async def nobody(*_: object) -> bool:
        raise AssertionError

    with pytest.raises(SignatureWrong, match="not on chain 8453 yet") as caught:
        await signatures.require(8453, Wallet().address, DIGEST, b"x" * 100 + signatures.NOT_YET_THERE, nobody)
    assert "Deploy it first" in caught.value.fix
