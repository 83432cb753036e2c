"""CIDs: what is written is read back, and nothing else is read."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from glisk.errors import BadCid
from glisk.storage.ipfs import varint
from glisk.storage.ipfs.cid import DAG_PB, RAW, Cid, of, parse, unpacked

HELLO = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
HASH = hashlib.sha256(b"hello world").digest()
cids = some.builds(Cid, some.sampled_from([RAW, DAG_PB]), some.binary(min_size=32, max_size=32))


def text_of(data: bytes) -> str:
    return "b" + b32encode(data).decode().lower().rstrip("=")


def test_a_published_cid_is_that_of_its_bytes() -> None:
    assert str(of(RAW, b"hello world")) == HELLO
    assert parse(HELLO) == Cid(RAW, HASH)
    assert parse(HELLO).names(b"hello world")
    assert not parse(HELLO).names(b"hello worlds")


@given(cids)
def test_a_cid_is_read_as_it_was_written(cid: Cid) -> None:
    assert parse(str(cid)) == unpacked(bytes(cid)) == cid
    assert (len(str(cid)), len(bytes(cid)), str(cid).islower()) == (59, 36, True)


@given(some.text() | some.from_regex(r"b[a-z2-7]{58}", fullmatch=True))
@example("")
@example("\ud800")
def test_whatever_is_read_is_what_would_be_written(text: str) -> None:
    with suppress(BadCid):
        assert str(parse(text)) == text


@given(some.binary(max_size=80) | some.binary(min_size=36, max_size=36))
def test_garbage_in_binary_is_refused(data: bytes) -> None:
    with suppress(BadCid):
        assert bytes(unpacked(data)) == data


@pytest.mark.parametrize(
    "text",
    [
        HELLO.upper(),
        HELLO + "\n",
        HELLO[:-1],
        HELLO[:-1] + "f",  # the bits behind the end
        f"/ipfs/{HELLO}",
        f"{HELLO}/1.json",
        "zb2rhj7crUKTQYRGCRATFaQ6YFLTde2YzdqbbhAASkL9uRDXn",  # base58
        text_of(b"\x01\x71\x12\x20" + HASH),  # dag-cbor
        text_of(b"\x01\x55\x1b\x20" + HASH),  # Keccak
        text_of(b"\x02\x55\x12\x20" + HASH),
        text_of(b"\x01\x55\x12\x1f" + HASH),
        text_of(b"\x01\x55\x00\x0bhello world"),  # the bytes themselves
    ],
)
def test_any_other_cid_is_refused_with_what_is_wanted(text: str) -> None:
    with pytest.raises(BadCid) as refused:
        parse(text)
    assert "version 1 in base32" in refused.value.fix


def test_an_old_cid_is_refused_by_its_version() -> None:
    with pytest.raises(BadCid, match="of version 0"):
        parse("Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD")


@given(some.integers(0, 2**63 - 1), some.binary())
def test_a_number_is_read_as_it_was_written(number: int, behind: bytes) -> None:
    data = varint.written(number)
    assert varint.read(b"x" + data + behind, 1) == (number, len(data) + 1)


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x80\x00", b"\xff" * 9, b"\xff" * 20 + b"\x01"])
def test_what_is_no_number_is_refused(data: bytes) -> None:
    with pytest.raises(BadCid):
        varint.read(data, 0)
