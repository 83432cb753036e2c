"""Whatever somebody calls their file, its name can be kept, and two files never share one."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from glisk.repositories import filenames
from glisk.repositories.filenames import LONGEST, free, safe

NAMES = st.text(max_size=400) | st.text(alphabet="ab./\\ -\t\0", max_size=30)


@given(NAMES)
def test_a_safe_name_is_plain_and_stays_what_it_is(name: str) -> None:
    found = safe(name)
    assert re.fullmatch(r"[^/\\]{1,200}", found)
    assert found.isprintable()
    assert found not in (".", "..")
    assert found.strip() == found
    assert safe(found) == found


@given(st.lists(NAMES, max_size=30))
def test_names_that_are_given_out_are_all_different_and_not_too_long(names: list[str]) -> None:
    taken: set[str] = set()
    for name in names:
        found = free(safe(name), taken)
        assert found not in taken
        assert 1 <= len(found) <= LONGEST
        assert filenames.split(found)[1] == filenames.split(safe(name))[1]
        taken.add(found)


def test_an_ending_stays_whatever_else_is_cut() -> None:
    assert safe("x" * 300 + ".jpeg") == "x" * 195 + ".jpeg"
    assert free("a.tar.gz", {"a.tar.gz"}) == "a.tar-2.gz"
    assert free(".png", {".png"}) == ".png-2"
    assert safe("a\tb  c.png") == "a b c.png"
