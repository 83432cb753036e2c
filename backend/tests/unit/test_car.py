"""CARs: what is whole is read back; what is not never passes for whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from glisk.errors import BadCid
from glisk.storage.ipfs import car
from glisk.storage.ipfs.port import Dag
from glisk.storage.ipfs.unixfs import Profile, dag

dags = some.builds(dag, some.binary(max_size=200), some.builds(Profile, some.integers(8, 40), some.integers(2, 4)))


def test_a_car_is_laid_out_as_the_specification_says() -> None:
    whole = dag(b"hello world")
    cid = bytes.fromhex("01551220b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9")
    head = b"\x3a\xa2\x65roots\x81\xd8\x2a\x58\x25\x00" + cid + b"\x67version\x01"
    assert car.written(whole) == head + b"\x2f" + cid + b"hello world"


@given(dags)
def test_a_car_is_read_as_it_was_written(whole: Dag) -> None:
    assert car.read(car.written(whole)) == ([whole.root], whole.blocks)


@given(dags, some.data())
def test_a_truncated_car_never_passes_for_whole(whole: Dag, draw: some.DataObject) -> None:
    data = car.written(whole)
    with pytest.raises(BadCid):
        car.read(data[: draw.draw(some.integers(0, len(data) - 1))])


@given(dags, some.data())
def test_a_flipped_byte_is_found(whole: Dag, draw: some.DataObject) -> None:
    data = car.written(whole)
    at, bits = draw.draw(some.integers(0, len(data) - 1)), draw.draw(some.integers(1, 255))
    with pytest.raises(BadCid):
        car.read(data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :])


@given(dags, some.data())
def test_a_missing_block_is_found(whole: Dag, draw: some.DataObject) -> None:
    gone = draw.draw(some.sampled_from(whole.blocks))
    rest = Dag(whole.root, [block for block in whole.blocks if block != gone], whole.size)
    with pytest.raises(BadCid, match=gone.cid):
        car.read(car.written(rest))


@given(some.binary(max_size=300))
def test_garbage_is_no_car(data: bytes) -> None:
    with pytest.raises(BadCid):
        car.read(data)
