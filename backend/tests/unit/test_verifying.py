"""What is found out about a token from bytes alone, and how it is told."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from glisk.chain.mint import Contract
from glisk.publishing.canonical import canonical
from glisk.publishing.manifest import signed
from glisk.storage.ipfs.cid import RAW, of
from glisk.verifying import telling
from glisk.verifying.ids import Ids
from glisk.verifying.judging import NotNamed, judged, named_in
from glisk.verifying.signers import with_signers
from glisk.verifying.verdict import Problem, Report, Verdict
from tests.manifests import a_manifest

HERE = Contract(31337, "0x" + "c0" * 20)
WALLET = Account.from_key("0x" + "11" * 32)
PICTURE = b"a picture"
CID = str(of(RAW, PICTURE))
ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20
GATEWAY = "http://gateway.test"


def metadata(token_id: int = 1) -> dict[str, Any]:
    manifest = a_manifest(HERE.chain_id, HERE.address, token_id, PICTURE)
    return signed({"name": f"Glisk #{token_id}", "image": f"ipfs://{CID}", "attributes": []}, manifest, WALLET)


METADATA = metadata()


def flaws(data: bytes, token_id: int = 1) -> list[str]:
    return list(judged(data, HERE, token_id).flaws)


def signed_by(*signers: str | None) -> list[Verdict]:
    return [
        Verdict(token_id=n, uri=f"ipfs://{CID}", is_whole=True, signer=signer) for n, signer in enumerate(signers, 1)
    ]


def missing(token_id: int, **more: Any) -> Verdict:
    problem = Problem(kind="missing", what="picture", why="it answered 404", gateway=GATEWAY, cid=CID)
    return Verdict(token_id=token_id, uri=f"ipfs://{CID}", problems=[problem], **more)


def test_metadata_that_was_signed_for_a_token_is_sound_and_tells_of_its_picture() -> None:
    found = judged(canonical(METADATA), HERE, 1)
    assert (found.flaws, found.signer, found.image) == ([], WALLET.address.lower(), f"ipfs://{CID}")
    assert found.sha256 == sha256(PICTURE).digest()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"<html>", "it is not JSON"),
        (b"", "it is not JSON"),
        (b"\xff\xfe\xfd", "it is not JSON"),
        (b"[" * 1_000_000, "it is not JSON"),
        (b'{"a":' * 200_000, "it is not JSON"),
        (b'"\\"' + b'\\"' * 500_000, "it is not JSON"),
        (b"[]", "it is no JSON object"),
        (b'{"name":"x"}', "it has no provenance"),
        (canonical(metadata(2)), "it is the provenance of token 2"),
        (canonical(METADATA | {"name": "Other"}), "its name, attributes or other content was changed"),
        (canonical(METADATA | {"image": "http://x"}), "its name, attributes or other content was changed"),
        (msgspec.json.format(canonical(METADATA)), "it is not in the canonical form"),
        (canonical(METADATA)[:-1] + b',"name":"Glisk #1"}', "it is not in the canonical form"),
    ],
)
def test_any_other_metadata_is_not(data: bytes, why: str) -> None:
    assert [flaw for flaw in flaws(data) if flaw.startswith(why)]


def test_a_signature_is_told_even_if_the_form_is_not_canonical() -> None:
    assert judged(msgspec.json.format(canonical(METADATA)), HERE, 1).signer == WALLET.address.lower()


@given(st.binary(max_size=200))
def test_no_bytes_at_all_surprise_the_judge(data: bytes) -> None:
    assert flaws(data)


@given(st.data())
def test_whichever_byte_is_changed_it_is_found(data: st.DataObject) -> None:
    whole = bytearray(canonical(METADATA))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    assert flaws(bytes(whole))


def test_a_uri_names_content_by_a_cid_of_version_1() -> None:
    assert named_in(f"ipfs://{CID}") == CID


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("https://glisk.example/1.json", "its URI is not content-addressed: https://glisk.example/1.json"),
        ("", "its URI is not content-addressed"),
        ("data:application/json,{}", "its URI is not content-addressed"),
        ("http://" + "x" * 9999, "x…"),
        (f"ipfs://{CID}/1.json", "its URI is not ipfs:// and the CID of a file"),
        ("ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG", "its URI is not ipfs:// and the CID of a file"),
        ("ipfs://", "its URI is not ipfs:// and the CID of a file"),
    ],
)
def test_what_else_a_uri_may_be_cannot_be_checked(uri: str, why: str) -> None:
    with pytest.raises(NotNamed) as found:
        named_in(uri)
    assert why in str(found.value)
    assert len(str(found.value)) < 300


def test_who_is_signed_by_another_than_most_is_named() -> None:
    verdicts, signer = with_signers(signed_by(ALICE, BOB, ALICE, None), None)
    assert signer == ALICE
    assert [verdict.status for verdict in verdicts] == ["sound", "wrong", "sound", "sound"]
    assert verdicts[1].problems[0].why == f"it is signed by {BOB}, unlike 2 others"


def test_of_as_many_the_first_signer_is_the_usual_one() -> None:
    verdicts, signer = with_signers(signed_by(BOB, ALICE), None)
    assert signer == BOB
    assert verdicts[1].problems[0].why == f"it is signed by {ALICE}, unlike 1 other"


def test_who_must_have_signed_stands_above_what_most_are() -> None:
    verdicts, signer = with_signers(signed_by(ALICE, BOB, ALICE), BOB)
    assert signer == BOB
    assert [verdict.status for verdict in verdicts] == ["wrong", "sound", "wrong"]
    assert verdicts[0].problems[0].why == f"it is signed by {ALICE}, not by {BOB}"


def test_nobody_has_signed_nothing() -> None:
    assert with_signers([missing(1)], None) == ([missing(1)], None)


def test_a_token_that_one_gateway_lacks_and_another_has_is_sound() -> None:
    assert missing(1).status == "missing"
    assert missing(1, is_whole=True).status == "sound"


def test_a_report_is_summed_up_in_a_line() -> None:
    hidden = Verdict(token_id=4, uri="", is_revealed=False)
    verdicts, _ = with_signers([*signed_by(ALICE, BOB), missing(3), hidden], None)
    report = Report(contract=HERE, verdicts=verdicts, gateways=[GATEWAY], signer=ALICE)
    summed_up = "4 tokens: 1 sound, 1 wrong, 1 missing (not revealed: 1) through 1 gateway, signed by " + ALICE
    assert telling.summary(report) == summed_up


def test_what_many_tokens_have_in_common_is_one_line_and_what_is_wrong_comes_first() -> None:
    verdicts, _ = with_signers([missing(1), missing(2), missing(3), missing(7), *signed_by(None, BOB)[1:]], ALICE)
    told = telling.rows(Report(contract=HERE, verdicts=verdicts, gateways=[GATEWAY], signer=ALICE))
    assert [(row["found"], row["where"]) for row in told] == [("wrong", f"ipfs://{CID}"), ("missing", GATEWAY)]
    assert told[1]["token"] == "1-3, 7"


def test_of_a_single_token_the_address_of_what_is_missing_is_told() -> None:
    (row,) = telling.rows(Report(contract=HERE, verdicts=[missing(5)], gateways=[GATEWAY], signer=None))
    assert (row["token"], row["where"]) == ("5", f"{GATEWAY}/ipfs/{CID}")


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50))))
def test_ids_are_those_of_all_ranges_each_once_in_order(spans: list[tuple[int, int]]) -> None:
    found = Ids.of(spans)
    assert list(found) == sorted({n for first, last in spans for n in range(first, last + 1)})
    assert found.count == len(list(found))


def test_a_range_may_be_larger_than_any_memory() -> None:
    found = Ids.of([(0, 2**256 - 1), (7, 9)])
    assert (found.count, str(found)) == (2**256, f"0-{2**256 - 1}")
    assert next(iter(found)) == 0
