"""Which prompts can be drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.prompts import prompt_problem


@pytest.mark.parametrize(
    "prompt",
    [
        "A sunset over mountains",
        "猫",
        "x" * 1000,
        "🐈" * 1000,
        "two\nlines\tand a tab",
        "e\u0301",
        "👩\u200d🎨",
        "שלום\u200f",
    ],
)
def test_these_can(prompt: str) -> None:
    assert prompt_problem(prompt) is None


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (None, "empty"),
        ("", "empty"),
        (" \t\n\u3000", "empty"),
        ("\u200b\u2060 \ufeff", "empty"),
        ("a\u202eevil\u202c b", "U+202E"),
        ("a \u2066turned\u2069 b", "U+2066"),
        ("x" * 1001, "1001 characters"),
        ("🐈" * 1001, "1001 characters"),
        ("a\0b", "U+0000"),
        ("bell\x07", "U+0007"),
        ("next\x85line", "U+0085"),
        ("half \ud83d of a cat", "U+D83D"),
    ],
)
def test_these_cannot_and_the_reason_is_told(prompt: str | None, said: str) -> None:
    assert said in (prompt_problem(prompt) or "")


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs"]), min_size=1, max_size=1000))
def test_whatever_people_write_can_be_drawn_unless_it_is_only_space(prompt: str) -> None:
    assert (prompt_problem(prompt) is None) == bool(prompt.strip())
