"""What a node may answer, and what is no answer."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from glisk.chain import calls
from glisk.chain.mint import Header


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


GOOD = {"number": "0x10", "hash": "0x" + "ab" * 32, "parentHash": "0x" + "cd" * 32, "timestamp": "0x65"}


def test_a_header_is_read() -> None:
    assert calls.block(16).read(raw(GOOD)) == Header(16, b"\xab" * 32, b"\xcd" * 32, 0x65)


def test_a_block_that_is_not_there_is_none() -> None:
    assert calls.block(16).read(raw(None)) is None


@pytest.mark.parametrize(
    "spoilt",
    [{"number": hex(2**70)}, {"timestamp": hex(2**50)}, {"number": "-0x1"}, {"hash": "0xab"}, {"number": "ten"}],
    ids=str,
)
def test_a_header_out_of_bounds_is_the_nodes_fault(spoilt: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        calls.block(16).read(raw({**GOOD, **spoilt}))


@pytest.mark.parametrize("answer", ["0x", "0x1234", "0x" + "00" * 64])
def test_what_is_not_one_word_is_no_number(answer: str) -> None:
    assert calls.word(raw(answer)) is None
