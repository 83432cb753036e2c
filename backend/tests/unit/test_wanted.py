"""What a job may say of the picture that it wants."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.drawing.wanted import Unfit, Wanted, wanted_in

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
fields = st.sampled_from(["prompt", "width", "height", "steps", "seed", "other"])


def test_what_is_not_said_is_as_the_seed_has_it() -> None:
    wanted = wanted_in('{"prompt": "A cat", "anything": [1]}')
    assert wanted == Wanted("A cat", None, None, 20, None)


def test_numbers_may_come_from_a_form() -> None:
    assert wanted_in('{"width": "512", "height": "768", "steps": "5", "seed": "7"}') == Wanted(None, 512, 768, 5, 7)


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 63},
        {"height": 2049},
        {"steps": 0},
        {"steps": 151},
        {"seed": -1},
        {"seed": 2**32},
        {"width": "wide"},
        {"prompt": 7},
        {"seed": 1.5},
    ],
)
def test_what_nobody_can_draw_is_told_with_its_place(wrong: dict[str, Any]) -> None:
    with pytest.raises(Unfit, match=next(iter(wrong))):
        wanted_in(msgspec.json.encode({"prompt": "A cat", **wrong}))


@given(st.dictionaries(fields, anything) | anything)
def test_whatever_it_says_it_is_within_bounds_or_refused(payload: Any) -> None:
    try:
        wanted = wanted_in(msgspec.json.encode(payload))
    except Unfit:
        return
    assert all(side is None or 64 <= side <= 2048 for side in (wanted.width, wanted.height))
    assert 1 <= wanted.steps <= 150
    assert wanted.seed is None or 0 <= wanted.seed < 2**32
