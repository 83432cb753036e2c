"""The same value, the same bytes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.publishing.canonical import LARGEST, canonical

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = (
    st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner))


@given(VALUES)
def test_what_is_read_back_is_what_was_written_and_is_written_alike(value: Any) -> None:
    data = canonical(value)
    assert json.loads(data) == value
    assert canonical(json.loads(data)) == data


@given(st.dictionaries(TEXT, SCALARS))
def test_the_order_in_which_keys_came_makes_no_difference(value: dict[str, Any]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


def test_it_has_no_spaces_sorted_keys_and_text_as_utf_8() -> None:
    assert canonical({"b": [1, 2.5, None], "a": "Größe ☀"}) == '{"a":"Größe ☀","b":[1,2.5,null]}'.encode()


def test_numbers_that_are_equal_are_written_alike() -> None:
    assert canonical([1.0, -0.0]) == b"[1,0]"


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, 2**53, -(2**60), {1: 2}, b"bytes", "\ud800", {"\udc00": 1}, {1, 2}]
)
def test_what_readers_of_json_would_not_agree_on_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        canonical({"inside": [value]})


def test_what_is_nested_without_end_is_refused() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="deeply"):
        canonical(value)
