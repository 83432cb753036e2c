"""Weights are taken for what their head says, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glisk.providers.safetensors import problem
from tests.weights import framed, weights


def said(directory: Path, data: bytes) -> str | None:
    file = directory / "weights"
    file.write_bytes(data)
    return problem(file)


def test_sound_weights_are_sound(tmp_path: Path) -> None:
    assert said(tmp_path, weights()) is None
    assert said(tmp_path, weights(tensors=40, size=64)) is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "begin"),
        (b"PK\x03\x04" + bytes(100), "begin"),
        (b"<!DOCTYPE html><html></html>", "begin"),
        (framed(b""), "begin"),
        (framed(b"{}"), "no tensors"),
        (framed(b"[]"), "head"),
        (framed(b'{"a": 7}'), "head"),
        (framed(b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}'), "head"),
        (framed(b"\xff\xfe"), "head"),
        (framed(b"[" * 100_000), "head"),
        (framed(b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}', bytes(8)), "one after the other"),
        (weights()[:-1], "bytes"),
        (weights(tail=b"more"), "bytes"),
    ],
)
def test_what_is_something_else_is_told(tmp_path: Path, data: bytes, why: str) -> None:
    assert why in str(said(tmp_path, data))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60).flatmap(lambda data: st.sampled_from([data, framed(data), framed(data, data)])))
def test_noise_is_never_sound_and_never_an_exception(tmp_path: Path, data: bytes) -> None:
    assert said(tmp_path, data)
